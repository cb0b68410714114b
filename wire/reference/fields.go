package reference

import (
	"fmt"
	"slices"
	"strings"
)

// field is a field of a body, a parameter or a header, as the reference lists it.
type field struct {
	Name     string // with its path from the top, such as data[].id
	Type     string // in words
	Required bool
	Text     string
}

// maxNested bounds how deep the fields of nested objects are listed: a schema may
// refer to itself. maxWay bounds the way there, in bytes, which each of them repeats.
const (
	maxNested = 8
	maxWay    = 1000
)

// fields lists the fields of an object and of nested ones, in order.
func (s *spec) fields(sc schema) []field { return s.appendFields(nil, sc, "", 0) }

func (s *spec) appendFields(list []field, sc schema, way string, depth int) []field {
	sc = s.schema(sc)
	switch {
	case depth > maxNested || len(way) > maxWay:
		return list
	case sc.Items != nil:
		return s.appendFields(list, *sc.Items, strings.TrimSuffix(way, ".")+"[].", depth+1)
	}
	for _, p := range sc.Properties {
		value, name := s.schema(p.Value), way+p.Key
		text := value.Description
		if p.Value.Description != "" { // beside a reference
			text = p.Value.Description
		}
		list = append(list, field{name, s.words(value), slices.Contains(sc.Required, p.Key), text})
		list = s.appendFields(list, value, name+".", depth+1)
	}
	return list
}

// listed returns a parameter or a header as a field.
func (s *spec) listed(name string, p parameter) field {
	words := s.words(s.schema(p.Schema))
	if p.Example != nil {
		words += fmt.Sprintf(", such as %v", p.Example)
	}
	return field{name, words, p.Required, p.Description}
}

// words describes what a value may be.
func (s *spec) words(sc schema) string {
	words := []string{typeWords(sc)}
	if sc.Const != nil {
		words = append(words, fmt.Sprintf("always %v", sc.Const))
	}
	if sc.Enum != nil {
		words = append(words, listWords(sc.Enum))
	}
	if sc.Minimum != "" && sc.Maximum != "" {
		words = append(words, fmt.Sprintf("%s to %s", sc.Minimum, sc.Maximum))
	} else if sc.Minimum != "" {
		words = append(words, fmt.Sprintf("%s or more", sc.Minimum))
	}
	if sc.MaxLength > 0 && sc.MinLength > 0 {
		words = append(words, fmt.Sprintf("%d to %d characters", sc.MinLength, sc.MaxLength))
	} else if sc.MaxLength > 0 {
		words = append(words, fmt.Sprintf("at most %d characters", sc.MaxLength))
	}
	if sc.Default != nil {
		words = append(words, fmt.Sprintf("default %v", sc.Default))
	}
	return strings.Join(words, ", ")
}

// listWords is values as people list them: a, b or c.
func listWords(values []any) string {
	texts := make([]string, len(values))
	for i, value := range values {
		texts[i] = fmt.Sprint(value)
	}
	last := len(texts) - 1
	if last < 1 {
		return strings.Join(texts, "")
	}
	return strings.Join(texts[:last], ", ") + " or " + texts[last]
}

func typeWords(sc schema) string {
	name, _ := sc.Type.(string)
	if list, ok := sc.Type.([]any); ok { // the second is null
		name = fmt.Sprintf("%v or %v", list[0], list[1])
	}
	switch {
	case name == "":
		return "any JSON"
	case sc.Format == "date-time":
		return strings.Replace(name, "string", "time", 1)
	case sc.Format == "date":
		return "date"
	}
	return strings.Replace(name, "array", "list", 1)
}
