package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestCreate(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a")
	fill := func(text string, err error) func(io.Writer) error {
		return func(w io.Writer) error {
			io.WriteString(w, text)
			return err
		}
	}
	broken := errors.New("broken")
	for _, step := range []struct {
		force bool
		text  string
		err   error // of the fill
		fails bool
		holds string
	}{
		{false, "half", broken, true, ""},
		{false, "first", nil, false, "first"},
		{false, "second", nil, true, "first"},
		{true, "half", broken, true, "first"},
		{true, "second", nil, false, "second"},
	} {
		if err := Create(path, step.force, fill(step.text, step.err)); (err != nil) != step.fails || step.err != nil && !errors.Is(err, step.err) {
			t.Errorf("%+v: %v", step, err)
		}
		holds(t, folder, step.holds, 0o600)
	}
}

func TestWrite(t *testing.T) {
	folder := t.TempDir()
	for _, text := range []string{"first", "second"} {
		if err := Write(filepath.Join(folder, "a"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		holds(t, folder, text, 0o644)
	}
	if err := Write(folder, nil, 0o644); err == nil {
		t.Error("it took the place of a folder")
	}
	holds(t, folder, "second", 0o644)
}

// holds wants a folder to have one file, a, with a text; none where the text is
// empty.
func holds(t *testing.T, folder, text string, mode os.FileMode) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if text == "" && len(entries) == 0 {
		return
	}
	content, err := os.ReadFile(filepath.Join(folder, "a"))
	if err != nil || string(content) != text || len(entries) != 1 {
		t.Fatalf("%v holds %q, %v; want %q alone", entries, content, err, text)
	}
	if info, _ := entries[0].Info(); info.Mode().Perm() != mode {
		t.Errorf("it has mode %v, want %v", info.Mode().Perm(), mode)
	}
}
