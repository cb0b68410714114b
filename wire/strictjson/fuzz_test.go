package strictjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"teamdata/store"
)

// plain is what encoding/json reads out of everything's document.
type plain struct {
	Text     string
	Nullable *string
	Bool     bool
	Int      float64
	Texts    []string
	Object   struct{ Inner string }
	List     []struct{ Name string }
}

// FuzzReader holds what is read to what encoding/json reads, and what is refused
// to being the input's fault, told in one line.
func FuzzReader(f *testing.F) {
	f.Add(full)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parse(text)
		if err != nil {
			var fault *store.Error
			if !errors.As(err, &fault) || fault.Code != store.CodeBadRequest && fault.Code != store.CodePayloadTooLarge || strings.Contains(err.Error(), "\n") {
				t.Errorf("refused with %q", err)
			}
			return
		}
		text = strings.TrimPrefix(text, byteOrderMark) // which encoding/json does not take
		var want plain
		if err := json.Unmarshal([]byte(text), &want); err != nil {
			t.Fatalf("it was taken, and encoding/json says %v", err)
		}
		equal(t, "text", e.text, want.Text)
		if want.Nullable != nil {
			equal(t, "nullable", e.nullable, *want.Nullable)
		}
		equal(t, "bool", e.bool, want.Bool)
		equal(t, "int", float64(e.int), want.Int)
		equal(t, "texts", fmt.Sprintf("%q", e.texts), fmt.Sprintf("%q", want.Texts))
		equal(t, "inner", e.inner, want.Object.Inner)
		equal(t, "length of the list", len(e.list), len(want.List))
		equal(t, "raw is JSON", e.raw == nil || json.Valid(e.raw), true)
		equal(t, "raw is a part", strings.Contains(compact(t, text), compact(t, string(e.raw))), true)
		equal(t, "the number is in its bounds", e.int >= -5 && e.int <= 7, true)
	})
}

// compact is JSON without the space between its values, of which blank lines are
// not kept.
func compact(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil && text != "" {
		t.Error(err)
	}
	return b.String()
}
