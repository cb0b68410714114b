package diagnose

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// damage is a change that programs make to a body before they verify it.
type damage struct {
	text string
	undo func(body string) string
}

const bom = "\ufeff"

// damages are tried in this order, each by itself.
var damages = []damage{
	{"The body ends with white space or a line break that was not sent.", func(s string) string { return strings.TrimRight(s, " \t\r\n") }},
	{"The body has white space around it that was not sent.", strings.TrimSpace},
	{"The body begins with a byte order mark, which was not sent.", func(s string) string { return strings.TrimPrefix(s, bom) }},
	{"The body ends with a NUL byte, which was not sent.", func(s string) string { return strings.TrimRight(s, "\x00") }},
	{"The body is missing the line break at its end.", func(s string) string { return s + "\n" }},
	{"The line endings of the body were LF and are now CRLF.", func(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }},
	{"The line endings of the body were CRLF and are now LF.", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
	{"The body was parsed and written again, with spaces or line breaks.", compact},
	{"The body was parsed and written again, with other escapes.", func(s string) string { return compact(plainEscapes(s)) }},
	{"The body was escaped for HTML.", html.UnescapeString},
	{"The body was encoded as JSON twice.", decodedText},
	{"The body was read as Latin-1, but is UTF-8.", fromLatin1},
}

// changedBody finds a damage that explains the signature.
func (c Case) changedBody(m message) string {
	if c.Sent != nil && !bytes.Equal(c.Sent, c.Body) && m.signedByAny(c.Signers, string(c.Sent)) {
		return "The body is not the one that was sent. " + c.difference()
	}
	for _, d := range damages {
		if was := d.undo(string(c.Body)); was != string(c.Body) && m.signedByAny(c.Signers, was) {
			return d.text
		}
	}
	return ""
}

// signedByAny reports whether any signer made one of the signatures over a body.
func (m message) signedByAny(signers []Signer, body string) bool {
	return slices.ContainsFunc(signers, func(s Signer) bool { return m.signedBy(s, []byte(body)) })
}

// otherBody compares the body with the one that was sent, if no signature
// explains anything.
func (c Case) otherBody() string {
	switch {
	case c.Sent == nil:
		return ""
	case bytes.Equal(c.Sent, c.Body):
		return "The body is the one that was sent under this webhook-id, and no signature matches: the webhook-timestamp or the signature is from another request, or the secret is a different one."
	}
	return "No signature matches, and the body is not the one that was sent under this webhook-id. " + c.difference()
}

// difference describes how the body differs from the one that was sent.
func (c Case) difference() string {
	for _, d := range damages {
		if d.undo(string(c.Body)) == string(c.Sent) {
			return d.text
		}
	}
	if sameJSON(c.Body, c.Sent) {
		return "It was parsed and written again: the content is the same, in another order or with other numbers."
	}
	return fmt.Sprintf("They differ from byte %d on: this body has %d bytes, and %d were sent.", c.Difference().Byte, len(c.Body), len(c.Sent))
}

func sameJSON(a, b []byte) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// escapes finds the escapes of JSON: two halves of a pair, or one character.
var escapes = regexp.MustCompile(`(?s)\\(u[dD][89abAB]..\\u[dD][c-fC-F]..|u[[:xdigit:]]{4}|.)`)

// plainEscapes writes the escapes of letters and signs as such, as we send them. What
// can't be left out stays.
func plainEscapes(text string) string {
	return escapes.ReplaceAllStringFunc(text, func(escape string) string {
		var s string
		if json.Unmarshal([]byte(`"`+escape+`"`), &s) == nil && mayBePlain(s) {
			return s
		}
		return escape
	})
}

// mayBePlain reports whether JSON may hold a character as such. A code point that
// is no character results from a broken escape.
func mayBePlain(s string) bool {
	return s[0] >= 0x20 && s != `"` && s != `\` && s != string(utf8.RuneError)
}

func decodedText(text string) string {
	var s string
	if json.Unmarshal([]byte(text), &s) != nil {
		return text
	}
	return s
}

func fromLatin1(text string) string {
	b := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xff {
			return text
		}
		b = append(b, byte(r))
	}
	if !utf8.Valid(b) {
		return text
	}
	return string(b)
}
