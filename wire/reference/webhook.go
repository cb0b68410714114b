package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// With returns the document with more webhooks, behind its own. Each is a path item of
// OpenAPI, under its name.
func (d Document) With(webhooks Object[any]) (Document, error) {
	if len(webhooks) == 0 {
		return d, nil
	}
	var added Object[json.RawMessage]
	for _, w := range webhooks {
		item, err := Marshal(w.Value)
		if err != nil {
			return d, err
		}
		added = append(added, Member[json.RawMessage]{w.Key, item})
	}
	inJSON, err := addToJSON(d.JSON, added)
	if err != nil {
		return d, err
	}
	inYAML, err := addToYAML(d.YAML, added)
	return Document{d.Version, inJSON, inYAML}, err
}

func addToJSON(text []byte, webhooks Object[json.RawMessage]) ([]byte, error) {
	var root Object[json.RawMessage]
	if err := json.Unmarshal(text, &root); err != nil {
		return nil, err
	}
	for i := range root {
		if root[i].Key != "webhooks" {
			continue
		}
		var all Object[json.RawMessage]
		err := json.Unmarshal(root[i].Value, &all)
		if err == nil {
			root[i].Value, err = Marshal(append(all, webhooks...))
		}
		if err != nil {
			return nil, err
		}
	}
	line, err := Marshal(root)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, line, "", " ")
	b.WriteByte('\n')
	return b.Bytes(), err
}

// addToYAML adds webhooks to the text, which has its own right before the components.
// What is added is JSON, as YAML has it too.
func addToYAML(text []byte, webhooks Object[json.RawMessage]) ([]byte, error) {
	const components = "\ncomponents:\n"
	before, after, ok := bytes.Cut(text, []byte(components))
	if !ok || !bytes.Contains(before, []byte("\nwebhooks:\n")) {
		return nil, errors.New("the document in YAML has no webhooks before its components")
	}
	var b bytes.Buffer
	b.Write(before)
	b.WriteByte('\n')
	for _, w := range webhooks {
		fmt.Fprintf(&b, "  %q: ", w.Key) // or else YAML would take null and 1.5 for no text
		if err := json.Indent(&b, escapeForYAML(w.Value), "    ", "  "); err != nil {
			return nil, err
		}
		b.WriteByte('\n')
	}
	b.WriteString(components[1:])
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
