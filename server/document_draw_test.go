package server

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"
)

// draws are bytes that decisions are made of: a fuzzer's, or those of a seed. Once
// they are used up, each decision is the first one that there is.
type draws struct{ left []byte }

// below is a number from 0 to n-1; n is at most 65,536.
func (d *draws) below(n int) int {
	number := 0
	for size := n - 1; size > 0 && len(d.left) > 0; size >>= 8 {
		number, d.left = number<<8|int(d.left[0]), d.left[1:]
	}
	return number % n
}

// oneIn is true once in n times, and not when there is nothing left to draw.
func (d *draws) oneIn(n int) bool { return d.below(n) == n-1 }

// text is up to 15 bytes of any kind.
func (d *draws) text() string {
	n := min(d.below(16), len(d.left))
	text := string(d.left[:n])
	d.left = d.left[n:]
	return text
}

func pick[T any](d *draws, from ...T) T { return from[d.below(len(from))] }

// schema is what the document says of a parameter's value.
type schema struct {
	Type                 string
	Pattern              string
	Minimum, Maximum     *int
	MinLength, MaxLength *int
}

// value is a text that may be as the schema says: most often one that is known,
// else one that is made after the schema, one just beside it, or any at all.
func (s schema) value(d *draws, known []string) string {
	switch d.below(16) {
	case 0, 1:
		return s.fitting(d)
	case 2:
		return s.beside(d)
	case 3:
		return d.text()
	}
	return pick(d, known...)
}

// fitting is a value of the schema.
func (s schema) fitting(d *draws) string {
	switch {
	case s.Type == "integer":
		return strconv.Itoa(*s.Minimum + d.below(*s.Maximum-*s.Minimum+1))
	case s.Pattern != "":
		return s.matching(d, times)
	}
	return "a" + d.text()
}

// beside is most likely none.
func (s schema) beside(d *draws) string {
	if s.Type == "integer" {
		return pick(d, "", "-1", "1.0", "1e1", "x", "00", "0x5", strings.Repeat("9", 30), strconv.Itoa(*s.Minimum-1), strconv.Itoa(*s.Maximum+1))
	}
	if s.Pattern != "" && d.oneIn(2) {
		return s.matching(d, tooManyTimes)
	}
	text := s.fitting(d)
	switch at := d.below(len(text) + 1); d.below(4) {
	case 0:
		return text[:at] + d.text() + text[at:]
	case 1:
		return text[:at]
	case 2:
		return text[at:]
	}
	return text + strings.Repeat("x", valueOr(s.MaxLength, 256)+1-min(len(text), valueOr(s.MaxLength, 256)))
}

func valueOr(n *int, other int) int {
	if n == nil {
		return other
	}
	return *n
}

var wholeNumber = regexp.MustCompile(`^0*([0-9]{1,9})$`)

// fits reports whether the values that a parameter was given are as the document
// says: at most one, in Unicode, and of the schema.
func (s schema) fits(values []string) bool {
	if len(values) != 1 || !utf8.ValidString(values[0]) {
		return len(values) == 0
	}
	if s.Type == "integer" {
		digits := wholeNumber.FindStringSubmatch(values[0])
		if digits == nil {
			return false
		}
		n, _ := strconv.Atoi(digits[1])
		return n >= *s.Minimum && n <= *s.Maximum
	}
	n := utf8.RuneCountInString(values[0])
	return n >= valueOr(s.MinLength, 0) && n <= valueOr(s.MaxLength, n) && regexp.MustCompile(s.Pattern).MatchString(values[0])
}
