package store

import (
	"cmp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What fields of records may be, whatever noun they belong to.

const maxNameLength = 200

// fillIn sets the missing id and creation time of a new record.
func fillIn(tx Tx, prefix string, id *string, createdAt *time.Time) {
	if *id == "" {
		*id = tx.NewID(prefix)
	}
	if createdAt.IsZero() {
		*createdAt = tx.Now()
	}
}

// MaxAhead is how far ahead of the clock an imported time may be, since other
// clocks may be off. Later items are positioned after it.
const MaxAhead = 24 * time.Hour

// checkHappened checks that the time of a past event is at most MaxAhead of the clock.
func checkHappened(tx Tx, field string, at time.Time) error {
	if at.After(tx.Now().Add(MaxAhead)) {
		return Invalid(field, "is more than 24 hours ahead").Advise("check the clock of the machine that it comes from")
	}
	return nil
}

// checkOrg checks that there is an org. notFound: it doesn't exist.
func checkOrg(tx Tx, id string) error {
	_, err := tx.Org(id)
	return err
}

// checkNew checks that looking for a record which is to be made found none. conflict, in
// these words: there is one.
func checkNew(err error, field, format string, args ...any) error {
	if err != nil {
		return unlessNotFound(err)
	}
	e := Errorf(CodeConflict, format, args...)
	e.Field = field
	return e
}

const (
	idChars = "1 to 64 characters of A-Z a-z 0-9 _ and -"
	idRule  = "must be " + idChars
)

func checkID(field, id string) error {
	if !ValidID(id) {
		return Invalid(field, "%s", idRule)
	}
	return nil
}

// checkText applies checkOptional to a required text, such as a name.
func checkText(field, text string, most int) error {
	return cmp.Or(checkPresent(field, text), checkName(field, text, most))
}

// checkName checks a single-line text that people know something by, if there is one.
func checkName(field, text string, most int) error {
	if text != "" && utf8.ValidString(text) && visible(text) == "" {
		return Invalid(field, "has no visible character").Advise("write a text that people can read")
	}
	return checkOptional(field, text, most)
}

// visible is what people see of a text: its letters, digits, punctuation and symbols.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		const blank = '\u2800' // the pattern of Braille without a dot
		if r == blank || !unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) {
			return -1
		}
		return r
	}, text)
}

func checkPresent(field, text string) error {
	if text == "" {
		return Invalid(field, "is missing or empty")
	}
	return nil
}

// checkOptional checks a single-line text for control characters and its length
// in characters.
func checkOptional(field, text string, most int) error {
	if i := strings.IndexFunc(text, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(text[i:])
		return Invalid(field, "holds the control character %U", r).Advise("leave it out")
	}
	return checkLength(field, text, most)
}

// checkLength checks that a text is UTF-8, and its length in characters.
func checkLength(field, text string, most int) error {
	if !utf8.ValidString(text) {
		return Invalid(field, "is not valid UTF-8")
	}
	if n := utf8.RuneCountInString(text); n > most {
		return Invalid(field, "has %d characters", n).Advise("at most %d are allowed", most)
	}
	return nil
}
