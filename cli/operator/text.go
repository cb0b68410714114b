package operator

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"teamdata/internal/hint"
)

// byteOrderMark is what some editors begin a file in UTF-8 with. It is none of the text.
const byteOrderMark = "\ufeff"

const saveAsUTF8 = "save it in UTF-8"

// utf8Text returns what an input holds, without a mark of the order of bytes. What is not
// text in UTF-8 is refused at its place: JSON would carry it as U+FFFD, or, of UTF-16, as
// U+0000 behind each letter.
func utf8Text(name string, content []byte) ([]byte, error) {
	if isUTF16(content) {
		return nil, hint.New(name+" is UTF-16", saveAsUTF8)
	}
	content = bytes.TrimPrefix(content, []byte(byteOrderMark))
	at, what := bytes.IndexByte(content, 0), "holds a NUL byte, as UTF-16 does"
	if wrong := invalidAt(content); wrong >= 0 && (at < 0 || wrong < at) {
		at, what = wrong, "is not valid UTF-8"
	}
	if at < 0 {
		return content, nil
	}
	before := content[:at]
	return nil, hint.New(fmt.Sprintf("%s line %d, byte %d: %s", name, bytes.Count(before, []byte("\n"))+1, at-bytes.LastIndexByte(before, '\n'), what), saveAsUTF8)
}

// isUTF16 reports whether a text begins with the mark of UTF-16, in either order.
func isUTF16(text []byte) bool {
	return bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff"))
}

// invalidAt is where the first byte is that is not UTF-8; -1: there is none.
func invalidAt(text []byte) int {
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// CheckText refuses a text of the command line that is not UTF-8, which would be stored as
// U+FFFD. It may be a secret, and is not shown.
func CheckText(what, text string) error {
	if at := invalidAt([]byte(text)); at >= 0 {
		return hint.New(fmt.Sprintf("%s is not valid UTF-8 from its byte %d on", what, at+1), "use a terminal and a locale in UTF-8")
	}
	return nil
}
