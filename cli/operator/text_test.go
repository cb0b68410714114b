package operator

import (
	"strings"
	"testing"
)

// Text is in UTF-8, and what is not is named by its place.
func TestUTF8Text(t *testing.T) {
	for content, want := range map[string]string{
		"":                     "",
		"Grüße\n\x01\ufffd":    "Grüße\n\x01\ufffd",
		"\ufeffBe brief.":      "Be brief.",
		"Be\nbrief\xe9.":       "notes.txt line 2, byte 6: is not valid UTF-8; save it in UTF-8",
		"\xffBe\x00":           "notes.txt line 1, byte 1: is not valid UTF-8; save it in UTF-8",
		"B\x00e\x00":           "notes.txt line 1, byte 2: holds a NUL byte, as UTF-16 does; save it in UTF-8",
		"\xff\xfeB\x00e\x00":   "notes.txt is UTF-16; save it in UTF-8",
		"\xfe\xff\x00B\x00e":   "notes.txt is UTF-16; save it in UTF-8",
		"a\xed\xa0\x80 a half": "notes.txt line 1, byte 2: is not valid UTF-8; save it in UTF-8",
	} {
		got, err := UTF8Text("notes.txt", strings.NewReader(content))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != want {
			t.Errorf("%q: got %s, want %s", content, got, want)
		}
	}
}
