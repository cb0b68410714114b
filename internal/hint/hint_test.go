package hint

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// bare is an error that keeps its hint out of its text.
type bare struct{}

func (bare) Error() string { return "the disk is full" }
func (bare) Hint() string  { return "make room" }

// sentence is an error whose hint is a sentence behind its text, or absent.
type sentence struct {
	text, hint string
}

func (s sentence) Error() string { return strings.TrimSpace(s.text + " " + s.hint) }
func (s sentence) Hint() string  { return s.hint }

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		err               error
		whole, text, hint string
	}{
		{errors.New("a; b"), "a; b", "a; b", ""},
		{New("a; b", "c; d"), "a; b; c; d", "a; b", "c; d"},
		{fmt.Errorf("--flag: %w", New("a", "b")), "--flag: a; b", "--flag: a", "b"},
		{With(fmt.Errorf("outer: %w", New("a", "b")), "c"), "outer: a; b; c", "outer: a", "b; c"},
		{fmt.Errorf("seed: %w", sentence{"A. B.", "C."}), "seed: A. B. C.", "seed: A. B.", "C."},
		{sentence{"A. B.", ""}, "A. B.", "A. B.", ""},
		{fmt.Errorf("%w; nothing was done", New("a", "b")), "a; b; nothing was done", "a; b; nothing was done", ""},
		{fmt.Errorf("--flag: %w", bare{}), "--flag: the disk is full", "--flag: the disk is full", "make room"},
	} {
		text, hint := Split(test.err)
		if test.err.Error() != test.whole || text != test.text || hint != test.hint {
			t.Errorf("%q is parted into %q and %q", test.err, text, hint)
		}
	}
	if err := With(fs.ErrNotExist, "make it"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the reason is lost")
	}
}

func TestFields(t *testing.T) {
	for want, err := range map[string]error{
		"[error a hint b]": New("a", "b"), "[error a; b]": errors.New("a; b"),
	} {
		if got := fmt.Sprint(Fields(err)); got != want {
			t.Errorf("got %s, not %s", got, want)
		}
	}
}
