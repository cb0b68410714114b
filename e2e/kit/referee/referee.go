// Package referee judges JSON by a widely used library for JSON Schema, so that the built
// program is not judged by the code that it has in it. It is for the tests below e2e alone,
// and imports nothing of ours but e2e/kit/contract.
package referee

import (
	"bytes"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"teamdata/e2e/kit/contract"
)

// Compile is a [contract.Compile]. A schema is of draft 2020-12 unless it says otherwise.
func Compile(schema []byte) (contract.Check, error) {
	const here = "schema.json"
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(here, parsed); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(here)
	if err != nil {
		return nil, err
	}
	return func(text []byte) error {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err == nil {
			err = compiled.Validate(value)
		}
		if err == nil {
			return nil
		}
		said := err.Error()
		if _, faults, ok := strings.Cut(said, "\n"); ok { // the first line names the schema
			said = faults
		}
		return errors.New(strings.ReplaceAll(said, "\n", "; "))
	}, nil
}
