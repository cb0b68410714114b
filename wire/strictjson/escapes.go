package strictjson

import (
	"bytes"
	"unicode/utf16"
)

// escapes scans the escapes in texts for unpaired surrogates (\ud83d without
// \ude80 after it). They represent no character, and a decoder silently replaces
// them with U+FFFD. Outside texts a backslash is not JSON.
type escapes struct {
	length int   // of the escape so far; 0: in none
	begun  int64 // offset of that escape
	digits rune  // what its digits say so far
	high   int64 // offset of a first half just before; -1: there is none
}

// half scans the next bytes, which begin at an offset, and returns the offset of
// the first unpaired surrogate, or -1.
func (e *escapes) half(b []byte, offset int64) int64 {
	for i := 0; i < len(b); i++ {
		if e.length == 0 && e.high < 0 {
			skipped := bytes.IndexByte(b[i:], '\\')
			if skipped < 0 {
				return -1
			}
			i += skipped
		}
		if alone := e.next(b[i], offset+int64(i)); alone >= 0 {
			return alone
		}
	}
	return -1
}

func (e *escapes) next(c byte, at int64) (alone int64) {
	switch {
	case e.length == 0 && c == '\\':
		e.length, e.begun, e.digits = 1, at, 0
		return -1
	case e.length == 0, e.length == 1 && c != 'u': // no escape, or one of another kind
		e.length = 0
		return e.high
	case e.length >= len(`\u`):
		e.digits = e.digits<<4 | digit(c)
	}
	if e.length++; e.length < len(`\ud83d`) {
		return -1
	}
	e.length = 0
	return e.end()
}

// end continues after an escape \u.
func (e *escapes) end() (alone int64) {
	first, high := e.high, e.digits >= 0xd800 && e.digits < 0xdc00
	if e.high = -1; high {
		e.high = e.begun
	}
	switch second := utf16.IsSurrogate(e.digits) && !high; {
	case first >= 0 && !second:
		return first
	case first < 0 && second:
		return e.begun
	}
	return -1
}

// digit is a hexadecimal digit; anything else is for the decoder to refuse.
func digit(c byte) rune {
	switch {
	case c <= '9':
		return rune(c - '0')
	case c >= 'a':
		return rune(c-'a') + 10
	}
	return rune(c-'A') + 10
}
