package schema

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// explain is the error of a schema that can't be compiled.
func explain(err error) error {
	var wrong *jsonschema.SchemaValidationError
	var invalid *jsonschema.ValidationError
	if errors.As(err, &wrong) && errors.As(wrong.Err, &invalid) {
		return leafOf(invalid)
	}
	e := &Error{Message: "can't be used: " + short(strings.ReplaceAll(err.Error(), here+"#", "#"))}
	if load := (*jsonschema.LoadURLError)(nil); errors.As(err, &load) {
		e.Hint = "put the schema under $defs"
	}
	return e
}

// leafOf is the first error of a check by its place, of the deepest errors, which
// explain most. When no alternative of a choice fits, the choice itself is reported.
func leafOf(e *jsonschema.ValidationError) *Error {
	leaves := leavesOf(e, nil)
	slices.SortFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(slices.Compare(a.InstanceLocation, b.InstanceLocation), strings.Compare(messageOf(a), messageOf(b)))
	})
	return &Error{Place: short(placeOf(leaves[0].InstanceLocation)), Message: short(messageOf(leaves[0]))}
}

// short limits what names and values of others add to a message.
func short(message string) string { return fmt.Sprintf("%.300s", message) }

func leavesOf(e *jsonschema.ValidationError, leaves []*jsonschema.ValidationError) []*jsonschema.ValidationError {
	switch e.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf, *kind.Not, *kind.Contains, *kind.PropertyNames:
		return append(leaves, e)
	}
	if len(e.Causes) == 0 {
		return append(leaves, e)
	}
	for _, cause := range e.Causes {
		leaves = leavesOf(cause, leaves)
	}
	return leaves
}

// messageOf is the message of the library, without those of the errors below.
func messageOf(e *jsonschema.ValidationError) string {
	alone := *e
	alone.Causes = nil
	return alone.BasicOutput().Error.String()
}

// placeOf formats a place, such as lines[2].price.
func placeOf(steps []string) string {
	var place strings.Builder
	for _, s := range steps {
		switch {
		case s != "" && strings.Trim(s, "0123456789") == "":
			place.WriteString("[" + s + "]")
		case place.Len() > 0:
			place.WriteString("." + s)
		default:
			place.WriteString(s)
		}
	}
	return place.String()
}
