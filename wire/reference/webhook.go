package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// With returns the document with more webhooks, behind its own. Each is a path item of
// OpenAPI, under its name.
func (d Document) With(webhooks Object[json.RawMessage]) (Document, error) {
	if len(webhooks) == 0 {
		return d, nil
	}
	inJSON, errJSON := insert(d.JSON, "\n \"webhooks\": {\n", ",\n  %q: ", "  ", " ", "\n }", webhooks)
	inYAML, errYAML := insert(d.YAML, "\nwebhooks:\n", "\n  %q: ", "    ", "  ", "\ncomponents:\n", webhooks)
	return Document{d.Version, inJSON, inYAML}, errors.Join(errJSON, errYAML)
}

// insert adds webhooks to the text of a document at the end of its own, each below its
// name in quotes: or else YAML would take null and 1.5 for no text. They are added as
// JSON, which YAML includes.
func insert(text []byte, own, name, prefix, indent, end string, webhooks Object[json.RawMessage]) ([]byte, error) {
	_, rest, found := bytes.Cut(text, []byte(own))
	_, after, ended := bytes.Cut(rest, []byte(end))
	if !found || !ended {
		return nil, fmt.Errorf("the document has no webhooks between %q and %q", own, end)
	}
	var b bytes.Buffer
	b.Write(text[:len(text)-len(end)-len(after)])
	for _, w := range webhooks {
		fmt.Fprintf(&b, name, w.Key)
		if err := json.Indent(&b, escapeForYAML(w.Value), prefix, indent); err != nil {
			return nil, err
		}
	}
	b.WriteString(end)
	b.Write(after)
	return b.Bytes(), nil
}

// escapeForYAML escapes the characters that JSON may have in a string and YAML may
// not.
func escapeForYAML(text []byte) []byte {
	var escaped []byte
	for _, r := range string(text) {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			escaped = fmt.Appendf(escaped, `\u%04x`, r)
		} else {
			escaped = append(escaped, string(r)...)
		}
	}
	return escaped
}
