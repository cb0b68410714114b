// Package schema checks JSON against an operator's JSON Schemas. Nothing is fetched
// from elsewhere, and neither a schema nor a value can make a check run without end:
// regular expressions take linear time, and steps are counted. Of teamdata it imports
// store. A bound of schemas and values belongs to bounds.go, the wording of an
// error to explain.go.
package schema

import (
	"bytes"
	"errors"
	"sync"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"teamdata/store"
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

// InField is an error of Compile or Check as that of a field.
func InField(field string, err error) error {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Place != "" && e.Place[0] != '[':
		field += "."
	}
	return store.Invalid(field+e.Place, "%s", e.Message).Advise("%s", e.Hint)
}

// Schema is a compiled schema. It is safe for concurrent use.
type Schema struct {
	compiled *jsonschema.Schema
	mu       sync.Mutex // over steps, so that checks of one schema take turns
	steps    int
}

// here is the URL of a schema for the compiler; no other URL can be loaded.
const here = "schema:///"

// Compile compiles a schema of draft 2020-12, or of the draft that it names. An
// *Error explains why it can't.
func Compile(text []byte) (*Schema, error) {
	if len(text) > maxBytes {
		return nil, &Error{Message: "has more than 65536 bytes"}
	}
	doc, err := parse(text)
	if err != nil {
		return nil, err
	}
	var parts []*jsonschema.Schema
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.UseLoader(nowhere{})
	c.UseRegexpEngine(nil) // that of Go
	c.RegisterVocabulary(collector(&parts))
	c.AssertVocabs()
	if err := c.AddResource(here, doc); err != nil {
		return nil, &Error{Message: "can't be used: " + err.Error()}
	}
	compiled, err := c.Compile(here)
	if err != nil {
		return nil, explain(err)
	}
	s := &Schema{compiled: compiled}
	for _, part := range parts {
		s.count(part)
	}
	return s, nil
}

// Check checks JSON against the schema. An *Error shows where it does not match.
func (s *Schema) Check(text []byte) error {
	value, err := parse(text)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.check(value)
}

func (s *Schema) check(value any) (err error) {
	s.steps = 0
	defer func() {
		if p := recover(); p == errTooLong {
			err = errTooLong
		} else if p != nil {
			panic(p)
		}
	}()
	var invalid *jsonschema.ValidationError
	if errors.As(s.compiled.Validate(value), &invalid) {
		return leafOf(invalid)
	}
	return nil
}

func parse(text []byte) (any, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, &Error{Message: "is not JSON: " + err.Error()}
	}
	return value, checkValue(value, 0)
}
