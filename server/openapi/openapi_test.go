package openapi

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// Each document is sound OpenAPI 3.1, and each of its examples fits its schema.
func TestDocumentsAreSound(t *testing.T) {
	for version, d := range documents() {
		doc, err := openapi3.NewLoader().LoadFromData(d.JSON)
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
			t.Errorf("%s: %v", version, err)
		}
	}
}
