package receiver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

const (
	// maxPretty is how long a body may be to be indented: people read no longer
	// ones.
	maxPretty = 64 << 10

	// maxDepth is how deep a body may be. Deeper ones grow huge by indentation,
	// and readers of JSON give up on them.
	maxDepth = 100
)

// Plain makes a stranger's text fit to stand in one line on a terminal: control
// characters, and marks that turn the direction of writing around, are escaped
// as in JSON. Inside of JSON text that changes no value.
func Plain(text string) string { return escape(text, -1) }

func escape(text string, except rune) string {
	var b strings.Builder
	for _, r := range text { // a byte that is not UTF-8 is U+FFFD from here on
		if r != except && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// pretty makes a body fit for people: each line of it behind two spaces, so
// that none looks like another event.
func pretty(body []byte) string {
	const margin = "  "
	var b bytes.Buffer
	if len(body) > maxPretty || depth(body) > maxDepth || json.Indent(&b, bytes.TrimSpace(body), margin, "  ") != nil {
		return margin + Plain(string(body))
	}
	return margin + escape(b.String(), '\n') // line breaks are between values, never inside of one
}

// depth is how deep the objects and lists of a JSON text are nested, as far as
// it is JSON.
func depth(body []byte) (deepest int) {
	d := json.NewDecoder(bytes.NewReader(body))
	for now := 0; ; {
		switch token, err := d.Token(); {
		case err != nil:
			return deepest
		case token == json.Delim('{') || token == json.Delim('['):
			now++
			deepest = max(deepest, now)
		case token == json.Delim('}') || token == json.Delim(']'):
			now--
		}
	}
}
