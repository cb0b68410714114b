package operator

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"unicode/utf8"

	"teamdata/internal/hint"
)

// byteOrderMark is what some editors begin a file in UTF-8 with. It is none of the text.
const byteOrderMark = "\ufeff"

const saveAsUTF8 = "save it in UTF-8"

// UTF8Text returns what an input holds, without a mark of the order of bytes. What is not
// text in UTF-8 is refused at its place: JSON would carry it as U+FFFD, or, of UTF-16, as
// U+0000 behind each letter.
func UTF8Text(name string, in io.Reader) ([]byte, error) {
	text, err := withoutMark(name, in)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(text)
	if err != nil {
		return nil, err
	}
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

// withoutMark is an input behind its mark of the order of bytes, if it has one. That of
// UTF-16, in either order, is refused.
func withoutMark(name string, in io.Reader) (*bufio.Reader, error) {
	text := bufio.NewReader(in)
	first, _ := text.Peek(len(byteOrderMark))
	switch {
	case bytes.HasPrefix(first, []byte("\xff\xfe")), bytes.HasPrefix(first, []byte("\xfe\xff")):
		return nil, hint.New(name+" is UTF-16", saveAsUTF8)
	case string(first) == byteOrderMark:
		text.Discard(len(byteOrderMark))
	}
	return text, nil
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
