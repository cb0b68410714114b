package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// nowhere is the loader of other schemas, which loads none.
type nowhere struct{}

var errFetch = errors.New("nothing is fetched from elsewhere")

func (nowhere) Load(string) (any, error) { return nil, errFetch }

var errTooLong = &Error{Message: "takes too many steps to check against its schema", Hint: "simplify the schema"}

// collector is a vocabulary without keywords, through which the compiler hands over
// every object of a schema.
func collector(parts *[]*jsonschema.Schema) *jsonschema.Vocabulary {
	return &jsonschema.Vocabulary{
		URL: here + "collector",
		Compile: func(ctx *jsonschema.CompilerContext, _ map[string]any) (jsonschema.SchemaExt, error) {
			*parts = append(*parts, ctx.Enqueue(nil))
			return nil, nil
		},
	}
}

// count counts a step each time that a part is applied to a value, by its format,
// which is checked first. The library has no other way to end a check.
func (s *Schema) count(part *jsonschema.Schema) {
	own := cmp.Or(part.Format, &jsonschema.Format{Validate: func(any) error { return nil }})
	part.Format = &jsonschema.Format{Name: own.Name, Validate: func(value any) error {
		if s.steps++; s.steps > maxSteps {
			panic(errTooLong)
		}
		return own.Validate(value)
	}}
}

// checkValue bounds depth and numbers: exact arithmetic with 1e999999999 would take
// all memory.
func checkValue(value any, depth int) error {
	if depth > maxDepth {
		return &Error{Message: "nests objects or lists to a depth of more than 64"}
	}
	switch v := value.(type) {
	case map[string]any:
		for _, inner := range v {
			if err := checkValue(inner, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := checkValue(inner, depth+1); err != nil {
				return err
			}
		}
	case json.Number:
		return checkNumber(string(v))
	}
	return nil
}

// checkNumber allows exponents of up to three digits.
func checkNumber(text string) error {
	i := strings.IndexAny(text, "eE")
	if i < 0 || len(strings.TrimLeft(text[i+1:], "+-0")) <= 3 {
		return nil
	}
	return &Error{Message: "contains a number with an exponent of more than three digits"}
}
