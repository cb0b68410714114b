package operator

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
)

// record is a JSON object whose fields stay in their order. Those of an object
// inside are its own, such as subscription.plan, unless it is a document.
type record []field

type field struct {
	name  string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (r *record) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if _, err := d.Token(); err != nil { // {
		return err
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		f := field{}
		if f.name, _ = name.(string); f.name == "" {
			return errors.New("an object is expected")
		}
		if err := d.Decode(&f.value); err != nil {
			return err
		}
		*r = append(*r, f.flat()...)
	}
	return nil
}

// documents are the fields whose objects are the users' own.
var documents = []string{"body", "schema"}

// flat is the field, or the fields of the object that it holds.
func (f field) flat() []field {
	var inner record
	if slices.Contains(documents, f.name) || !bytes.HasPrefix(f.value, []byte("{")) || json.Unmarshal(f.value, &inner) != nil || len(inner) == 0 {
		return []field{f}
	}
	for i := range inner {
		inner[i].name = f.name + "." + inner[i].name
	}
	return inner
}

// text is the value in one line; empty for null.
func (f field) text() string { return textOf(f.value) }

func textOf(value json.RawMessage) string {
	var text *string
	if json.Unmarshal(value, &text) == nil {
		if text == nil {
			return ""
		}
		return plain(*text)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) == nil {
		var parts []string
		for _, v := range list {
			parts = append(parts, textOf(v))
		}
		return strings.Join(parts, ",")
	}
	return plain(string(value))
}

// find is the text of the field with a name.
func (r record) find(name string) (text string, ok bool) {
	for _, f := range r {
		if f.name == name {
			return f.text(), true
		}
	}
	return "", false
}

// take removes the field with a name, and returns its value.
func (r *record) take(name string) (value json.RawMessage) {
	for i, f := range *r {
		if f.name == name {
			*r = append((*r)[:i:i], (*r)[i+1:]...)
			return f.value
		}
	}
	return nil
}
