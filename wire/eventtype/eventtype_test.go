package eventtype

import (
	"testing"

	"teamdata/internal/schema"
	"teamdata/store"
)

// The example of each built-in type fits its schema, and is what a test sends.
func TestExamplesFit(t *testing.T) {
	for _, name := range store.BuiltInEventTypes {
		kind := BuiltIn(name)
		compiled, err := schema.Compile(kind.Schema)
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled.Check(kind.Example); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
