// Package eventtype knows the types of events with what is shown of them: the built-in
// ones of the Team Data API, each with its JSON Schema and an example (builtin.json, which
// is generated from wire/openapi/openapi.yaml), and those that the operator registered,
// whose examples are made from their schemas.
//
// plain.go reduces JSON Schemas to what generators of clients take, and sample.go makes
// an example. test.go makes a whole event of an example, and sends it as a test. The package imports store,
// wire/reference and internal/schema.
package eventtype

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"sync"

	"teamdata/internal/schema"
	"teamdata/store"
)

// Type is an event type with an example.
type Type struct {
	store.EventType
	Meaning string          // for people: when it is sent; empty: the operator has not described it
	Example json.RawMessage // of the data, a JSON object; nil: none could be made
}

// builtIn is the event types of the Team Data API.
var builtIn = sync.OnceValue(readBuiltIn)

//go:embed builtin.json
var builtInJSON []byte

func readBuiltIn() map[string]Type {
	var found map[string]struct {
		Description, Meaning string
		Schema, Example      json.RawMessage
	}
	if err := json.Unmarshal(builtInJSON, &found); err != nil {
		panic(err) // it is part of the program
	}
	types := map[string]Type{}
	for name, t := range found {
		var text bytes.Buffer
		_ = json.Compact(&text, t.Schema) // it is JSON
		types[name] = Type{store.EventType{Name: name, Description: t.Description, Schema: text.Bytes()}, t.Meaning, t.Example}
	}
	return types
}

// BuiltIn returns a built-in type; the zero value: none of that name.
func BuiltIn(name string) Type { return builtIn()[name] }

// Find finds a built-in type, or one that the operator registered, with its example.
// notFound: it doesn't exist.
func Find(tx store.Tx, name string) (Type, error) {
	if t, ok := builtIn()[name]; ok {
		return t, nil
	}
	e, err := tx.EventType(name)
	if err != nil {
		return Type{}, err
	}
	_, example := Reduce(e.Schema)
	return Type{e, e.Description, example}, nil
}

// InField returns an error of compiling a schema, or of checking against one, as a
// badRequest that names the place in a field of a request. Other errors, and nil, stay
// as they are.
func InField(field string, err error) error {
	var e *schema.Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Place != "" && e.Place[0] != '[':
		field += "."
	}
	return store.Invalid(field+e.Place, "%s", e.Message).Advise("%s", e.Hint)
}
