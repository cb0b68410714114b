package openapi

import (
	"bytes"
	"encoding/json"
	"strings"
)

// spec is what the reference page shows of a document.
type spec struct {
	Info struct{ Title, Version, Summary, Description string }
	Tags []struct{ Name, Description string }

	Servers         []struct{ URL string }
	Paths, Webhooks pairs[pairs[operation]]

	Components struct {
		Parameters map[string]parameter
		Headers    map[string]parameter
		Responses  pairs[response]
		Schemas    map[string]schema
	}
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       struct{ Content pairs[media] }
	Responses                         pairs[response]
}

// parameter is a header of an answer too, which has its name beside it.
type parameter struct {
	Ref                   string `json:"$ref"`
	Name, In, Description string
	Required              bool
	Schema                schema
	Example               any
}

type response struct {
	Ref         string `json:"$ref"`
	Description string
	Headers     pairs[parameter]
	Content     pairs[media]
}

type media struct {
	Schema   schema
	Examples pairs[struct {
		Summary string
		Value   json.RawMessage
	}]
}

type schema struct {
	Ref                          string `json:"$ref"`
	Type                         any    // a name, or a list of them
	Format, Pattern, Description string
	Const, Default               any
	Minimum, Maximum             json.Number
	MinLength, MaxLength         int
	Required                     []string
	Properties                   pairs[schema]
	Items                        *schema
}

// pairs is a JSON object in its order.
type pairs[T any] []pair[T]

type pair[T any] struct {
	Key   string
	Value T
}

func (p *pairs[T]) UnmarshalJSON(text []byte) error {
	in := json.NewDecoder(bytes.NewReader(text))
	if _, err := in.Token(); err != nil {
		return err
	}
	for in.More() {
		key, err := in.Token()
		if err != nil {
			return err
		}
		next := pair[T]{Key: key.(string)}
		if err := in.Decode(&next.Value); err != nil {
			return err
		}
		*p = append(*p, next)
	}
	return nil
}

// named is the last part of a reference: the name of a component.
func named(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

func (s *spec) parameter(p parameter) parameter {
	if p.Ref == "" {
		return p
	}
	return s.Components.Parameters[named(p.Ref)]
}

func (s *spec) schema(sc schema) schema {
	if sc.Ref == "" {
		return sc
	}
	return s.Components.Schemas[named(sc.Ref)]
}
