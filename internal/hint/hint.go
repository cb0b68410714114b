// Package hint keeps an error's advice as a separate value, so that it need not
// be parsed out of the text. It is for errors that people read on the command
// line or in the log. Code that shows a hint separately from its error calls
// [Split]; an error type with advice only needs a method Hint.
package hint

import (
	"errors"
	"strings"
)

// Hinter is an error with advice. In its text the hint is at the end, after a
// semicolon, or absent.
type Hinter interface {
	error
	Hint() string // may be empty
}

type hinted struct {
	text, hint string
	err        error
}

func (h hinted) Error() string { return h.text + "; " + h.hint }
func (h hinted) Hint() string  { return h.hint }
func (h hinted) Unwrap() error { return h.err }

// With adds to an error what to do about it, behind a hint that it has already. Its
// text stays one line, with the hint at the end.
func With(err error, hint string) error {
	text, first := Split(err)
	if first != "" {
		hint = first + "; " + hint
	}
	return hinted{text, hint, err}
}

// New is an error of a text and what to do about it.
func New(text, hint string) error { return With(errors.New(text), hint) }

// Fields returns the fields of an error for a structured log, with the hint as a
// separate one.
func Fields(err error) []any {
	text, hint := Split(err)
	if hint == "" {
		return []any{"error", text}
	}
	return []any{"error", text, "hint", hint}
}

// Split returns the text of an error without its hint, and the hint, which is empty
// where there is none, or where another error put text behind it.
func Split(err error) (text, hint string) {
	text = err.Error()
	h, ok := errors.AsType[Hinter](err) // the outermost one
	if !ok || h.Hint() == "" {
		return text, ""
	}
	hint = h.Hint()
	for _, between := range []string{"; ", " "} {
		if cut, ok := strings.CutSuffix(text, between+hint); ok {
			return cut, hint
		}
	}
	if strings.Contains(text, hint) {
		hint = ""
	}
	return text, hint
}
