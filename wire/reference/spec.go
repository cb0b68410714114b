package reference

import (
	"encoding/json"
	"regexp"
	"strings"
)

// spec is what the reference shows of a document.
type spec struct {
	Info     struct{ Title, Version, Summary, Description string }
	Tags     []struct{ Name, Description string }
	Security []map[string]any

	Servers         []struct{ URL string }
	Paths, Webhooks Object[item]

	Components struct {
		Parameters map[string]parameter
		Headers    map[string]parameter
		Responses  Object[response]
		Schemas    map[string]schema
	}
}

// item is a path or a webhook: its operations, by method, and what they share.
type item struct {
	Operations Object[operation]
	Parameters []parameter
}

func (i *item) UnmarshalJSON(text []byte) error {
	var all Object[json.RawMessage]
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, p := range all {
		if p.Key == "parameters" {
			if err := json.Unmarshal(p.Value, &i.Parameters); err != nil {
				return err
			}
			continue
		}
		var op operation
		if err := json.Unmarshal(p.Value, &op); err != nil {
			return err
		}
		i.Operations = append(i.Operations, Member[operation]{p.Key, op})
	}
	return nil
}

type operation struct {
	OperationID, Summary, Description string
	Tags                              []string
	Parameters                        []parameter
	RequestBody                       struct{ Content Object[media] }
	Responses                         Object[response]
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
	Headers     Object[parameter]
	Content     Object[media]
}

type media struct {
	Schema   schema
	Example  json.RawMessage
	Examples Object[struct {
		Summary string
		Value   json.RawMessage
	}]
}

// example is the first one; nil: there is none.
func (m media) example() json.RawMessage {
	if m.Example == nil && len(m.Examples) > 0 {
		return m.Examples[0].Value.Value
	}
	return m.Example
}

type schema struct {
	Ref                          string `json:"$ref"`
	Type                         any    // a name, or a list of it and null
	Format, Pattern, Description string
	Const, Default               any
	Enum                         []any
	Minimum, Maximum             json.Number
	MinLength, MaxLength         int
	Required                     []string
	Properties                   Object[schema]
	Items                        *schema
	Source                       json.RawMessage `json:"x-jsonSchema"` // what it was made from
}

// named is the last part of a reference: the name of a component.
func named(ref string) string { return ref[strings.LastIndexByte(ref, '/')+1:] }

// found returns what a reference refers to, or without one the value itself.
func found[T any](value T, ref string, components map[string]T) T {
	if ref == "" {
		return value
	}
	return components[named(ref)]
}

func (s *spec) parameter(p parameter) parameter { return found(p, p.Ref, s.Components.Parameters) }
func (s *spec) header(p parameter) parameter    { return found(p, p.Ref, s.Components.Headers) }
func (s *spec) schema(sc schema) schema         { return found(sc, sc.Ref, s.Components.Schemas) }

func (s *spec) response(r response) response {
	if r.Ref == "" {
		return r
	}
	return s.Components.Responses.Get(named(r.Ref))
}

// key is the name of the variable that a command takes its key from, such as
// API_KEY of the security scheme apiKey.
func (s *spec) key() (variable string) {
	for name := range s.Security[0] {
		variable = strings.ToUpper(regexp.MustCompile(`[A-Z]`).ReplaceAllString(name, "_$0"))
	}
	return variable
}
