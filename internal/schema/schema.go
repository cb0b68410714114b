// Package schema checks JSON against JSON Schemas. Nothing is fetched
// from elsewhere, and neither a schema nor a value can make a check run without end:
// regular expressions take linear time, and steps are counted.
//
// A schema is checked against the metaschema of its draft, and compiled: compile.go
// finds what its references lead to, and the makers in rules.go turn keywords into
// rules, which check.go applies to a value. A keyword is a maker, in objects.go,
// lists.go or scalars.go, and if it has schemas in it, a line in draft.go. A bound
// belongs to bounds.go.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// Bounds of what is compiled and checked.
const (
	maxBytes = 64 << 10 // of a schema
	maxDepth = 64       // of nested objects and lists, in a schema and in a value
	maxSteps = 100_000  // of one check: how often an object of the schema is applied to a part of the value
)

// Error describes what is wrong and where, such as at lines[2].price; the Place
// of the whole value is empty.
type Error struct {
	Place   string
	Message string
	Hint    string // what to do about it; empty: nothing that Message doesn't say
}

func (e *Error) Error() string {
	text := e.Message
	if e.Place != "" {
		text = e.Place + ": " + text
	}
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	root   *part
	tracks bool // see checker
}

// here is the URL of a schema for the compiler.
const here = "schema:///"

// Compile compiles a schema of draft 2020-12, or of draft-07 if it names that. An
// *Error explains why it can't.
func Compile(text []byte) (*Schema, error) {
	if len(text) > maxBytes {
		return nil, &Error{Message: "has more than 65536 bytes"}
	}
	doc, err := parse(text)
	if err != nil {
		return nil, err
	}
	draft := draft2020
	object, _ := doc.(map[string]any)
	if name, ok := object["$schema"].(string); ok {
		if draft = draftOf(name); draft == nil {
			return nil, errElsewhere(name)
		}
	}
	metaschema, err := draft.compiled()
	if err != nil {
		return nil, err
	}
	if err := metaschema.check(doc); err != nil {
		return nil, err
	}
	return compile(doc, draft, here)
}

// Check checks JSON against the schema. An *Error shows where it does not match.
func (s *Schema) Check(text []byte) error {
	value, err := parse(text)
	if err != nil {
		return err
	}
	return s.check(value)
}

func (s *Schema) check(value any) (err error) {
	c := checker{tracks: s.tracks}
	defer func() {
		if p := recover(); p == errTooLong {
			err = errTooLong
		} else if p != nil {
			panic(p)
		}
	}()
	if c.apply(s.root, value, nil) {
		return nil
	}
	return &Error{Place: short(placeOf(c.first.place)), Message: short(c.first.message)}
}

func parse(text []byte) (value any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&value); err == nil {
		if _, err = d.Token(); err == nil {
			err = errors.New("there is more text after the value")
		} else if errors.Is(err, io.EOF) {
			return value, checkValue(value, 0)
		}
	}
	return nil, &Error{Message: "is not JSON: " + err.Error()}
}
