package terminal

import (
	"fmt"
	"strings"
	"unicode"
)

// Plain makes a text safe for one line on a terminal: control characters, and
// marks that turn the direction of writing around, are escaped as in JSON. Within
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
