package openapi

import (
	"fmt"
	"html/template"
	"slices"
	"strings"
)

// field is a field of a body, a parameter or a header, as the page lists it.
type field struct {
	Name     string // with its path from the top, such as data[].id
	Type     string // in words
	Required bool
	Text     template.HTML
}

// fields lists the fields of an object and of nested ones, in order.
func (s *spec) fields(sc schema, way string) (list []field) {
	sc = s.schema(sc)
	if sc.Items != nil {
		return s.fields(*sc.Items, strings.TrimSuffix(way, ".")+"[].")
	}
	for _, p := range sc.Properties {
		value := s.schema(p.Value)
		name := way + p.Key
		list = append(list, field{name, s.words(value), slices.Contains(sc.Required, p.Key), inline(value.Description)})
		list = append(list, s.fields(value, name+".")...)
	}
	return list
}

// listed returns a parameter or a header as a field.
func (s *spec) listed(name string, p parameter) field {
	words := s.words(p.Schema)
	if p.Example != nil {
		words += fmt.Sprintf(", such as %v", p.Example)
	}
	return field{name, words, p.Required, inline(p.Description)}
}

// words describes what a value may be.
func (s *spec) words(sc schema) string {
	words := []string{typeWords(sc)}
	if sc.Const != nil {
		words = append(words, fmt.Sprintf("always %v", sc.Const))
	}
	if sc.Minimum != "" && sc.Maximum != "" {
		words = append(words, fmt.Sprintf("%s to %s", sc.Minimum, sc.Maximum))
	} else if sc.Minimum != "" {
		words = append(words, fmt.Sprintf("%s or more", sc.Minimum))
	}
	if sc.MaxLength > 0 {
		words = append(words, fmt.Sprintf("%d to %d characters", sc.MinLength, sc.MaxLength))
	}
	if sc.Default != nil {
		words = append(words, fmt.Sprintf("default %v", sc.Default))
	}
	return strings.Join(words, ", ")
}

func typeWords(sc schema) string {
	name, _ := sc.Type.(string)
	if list, ok := sc.Type.([]any); ok { // one of them is null
		name = fmt.Sprintf("%v or %v", list[0], list[1])
	}
	switch {
	case sc.Format == "date-time":
		return strings.Replace(name, "string", "time", 1)
	case sc.Format == "date":
		return "date"
	case name == "array":
		return "list"
	}
	return name
}
