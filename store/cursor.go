package store

import (
	"cmp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Cursor is a position in a list: the creation time and the id of an item. Its
// text form is `<milliseconds>.<id>`, the contract's `^\d{1,15}\.[\s\S]+$`.
type Cursor struct {
	Ms uint64 // Unix milliseconds, at most 15 digits
	ID string // not empty; any text, since a cursor need not name an item that exists
}

const maxCursorDigits = 15

// CursorOf returns the position of an item.
func CursorOf(createdAt time.Time, id string) Cursor {
	return Cursor{Ms: uint64(createdAt.UnixMilli()), ID: id}
}

// ParseCursor parses a cursor; ok is false for text that does not match the
// contract's pattern or is not UTF-8, which JSON could not echo.
func ParseCursor(text string) (c Cursor, ok bool) {
	digits, id, found := strings.Cut(text, ".")
	ms, err := strconv.ParseUint(digits, 10, 64) // which takes no sign
	if !found || id == "" || err != nil || len(digits) > maxCursorDigits || !utf8.ValidString(text) {
		return Cursor{}, false
	}
	return Cursor{ms, id}, true
}

func (c Cursor) String() string { return string(c.Append(nil)) }

// Append appends the cursor's text to dst.
func (c Cursor) Append(dst []byte) []byte {
	dst = strconv.AppendUint(dst, c.Ms, 10)
	dst = append(dst, '.')
	return append(dst, c.ID...)
}

// Compare orders cursors as lists are ordered: by time, then by id.
func (c Cursor) Compare(d Cursor) int {
	return cmp.Or(cmp.Compare(c.Ms, d.Ms), strings.Compare(c.ID, d.ID))
}

// IsZero reports whether c is the position before the first item.
func (c Cursor) IsZero() bool { return c == Cursor{} }
