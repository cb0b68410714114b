package api_test

import (
	"path/filepath"
	"regexp"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"teamdata/e2e/kit"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
)

// current is the version of the Team Data API that is not pinned.
const current = "2026-10-06"

var versionOf = regexp.MustCompile(`"version": "([^"]+)"`)

// documents are those of the Team Data API by version.
func documents(t *testing.T) map[string]reference.Document {
	t.Helper()
	all := map[string]reference.Document{}
	files, _ := filepath.Glob("../../wire/openapi/openapi*.json")
	for _, file := range files {
		text := kit.ReadText(t, file)
		version := versionOf.FindStringSubmatch(text)[1]
		all[version], _ = openapi.Of(version)
	}
	if all[current].JSON == nil {
		t.Fatalf("there is no document of %s", current)
	}
	return all
}

func load(t *testing.T, d reference.Document) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(d.JSON)
	if err != nil {
		t.Fatalf("%s: %v\n%s", d.Version, err, d.JSON)
	}
	return doc
}

// sound complains unless a document is sound OpenAPI 3.1, and each of its examples fits its
// schema.
func sound(t *testing.T, d reference.Document) *openapi3.T {
	t.Helper()
	doc := load(t, d)
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Errorf("%s: %v", d.Version, err)
	}
	return doc
}

func TestDocumentsAreSound(t *testing.T) {
	for _, d := range documents(t) {
		sound(t, d)
	}
	sound(t, openapi.Pull)
	sound(t, openapi.Admin)
}
