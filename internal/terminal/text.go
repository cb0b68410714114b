package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain makes a text fit to stand in one line on a terminal: control characters,
// and marks that turn the direction of writing around, are escaped as in JSON. Within
// JSON text that changes no value.
func Plain(text string) string { return Escape(text, "") }

// Escape is Plain for a text that may hold some of these characters, such as line
// breaks.
func Escape(text, except string) string {
	var b strings.Builder
	for _, r := range text { // a byte that is not UTF-8 is U+FFFD from here on
		if (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) && !strings.ContainsRune(except, r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Count is a number with its noun: 1 fault, 2 faults, 3 entries.
func Count(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ry"):
		noun = strings.TrimSuffix(noun, "y") + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ShellWord quotes a text for a shell if it needs that.
func ShellWord(text string) string {
	if !strings.ContainsFunc(text, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@%+,=", r))
	}) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// wide are the characters that take two columns: those of East Asian scripts, and
// most pictographs.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{{0x1100, 0x115f, 1}, {0x2e80, 0x303e, 1}, {0x3041, 0xa4cf, 1}, {0xa960, 0xa97f, 1},
		{0xac00, 0xd7a3, 1}, {0xf900, 0xfaff, 1}, {0xfe30, 0xfe6f, 1}, {0xff00, 0xff60, 1}, {0xffe0, 0xffe6, 1}},
	R32: []unicode.Range32{{0x1f300, 0x1f64f, 1}, {0x1f680, 0x1f6ff, 1}, {0x1f900, 0x1f9ff, 1}, {0x20000, 0x3fffd, 1}},
}

// columnsOfRune is how many columns a character takes.
func columnsOfRune(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf): // it stands on the one before
		return 0
	case unicode.Is(wide, r):
		return 2
	}
	return 1
}

// columnsOfText is how many columns a text takes.
func columnsOfText(text string) (n int) {
	for _, r := range text {
		n += columnsOfRune(r)
	}
	return n
}

// cut shortens a text to some columns, with a mark at its end.
func cut(text string, columns int) string {
	if columnsOfText(text) <= columns {
		return text
	}
	n := 0
	for i, r := range text {
		if n += columnsOfRune(r); n > columns-1 {
			return text[:i] + "…"
		}
	}
	return text
}
