package schema

import (
	"encoding/json"

	"teamdata/internal/canonical"
)

// maxApplied bounds how many parts of a schema are applied within one another.
const maxApplied = 4000

var errTooLong = &Error{Message: "takes too many steps to check against its schema", Hint: "simplify the schema"}

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
		if _, _, ok := canonical.Decimal(string(v)); !ok {
			return &Error{Message: "contains a number with an exponent of more than three digits"}
		}
	}
	return nil
}
