// Package openapi contains the description of the Team Data API: an OpenAPI 3.1
// document for each version.
//
// openapi.yaml is written by hand; openapi.json is generated from it by `go generate
// ./...`. When a version is published, both files of the previous one are kept as
// openapi-<its date>.yaml and .json. internal/reference generates the page from it.
//
// eventtype.go adds the event types that the operator registered. tools.go describes the
// operations to assistants, as tools. The package imports store, internal/eventtype and
// internal/reference.
package openapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"teamdata/internal/reference"
)

//go:embed *.yaml *.json
var files embed.FS

// Of returns the document of a version, given by its date.
func Of(version string) (reference.Document, bool) {
	d, ok := documents()[version]
	return d, ok
}

// documents returns all documents by version.
var documents = sync.OnceValue(func() map[string]reference.Document {
	all := map[string]reference.Document{}
	names, _ := fs.Glob(files, "*.json")
	for _, name := range names {
		d := mustRead(name)
		all[d.Version] = d
	}
	return all
})

// mustRead reads a document of this package's own; a test reads each.
func mustRead(name string) reference.Document {
	inJSON, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	inYAML, err := files.ReadFile(strings.TrimSuffix(name, path.Ext(name)) + ".yaml")
	if err != nil {
		panic(err)
	}
	var head struct{ Info struct{ Version string } }
	if err := json.Unmarshal(inJSON, &head); err != nil {
		panic(fmt.Sprintf("%s: %v", name, err))
	}
	return reference.Document{Version: head.Info.Version, JSON: inJSON, YAML: inYAML}
}
