// Package openapi contains the descriptions of the APIs in OpenAPI 3.1: a document for
// each version of the Team Data API, that of the pull API and that of the admin API.
//
// openapi.yaml, pull.yaml and admin.yaml are written by hand; the files in JSON are generated
// from them by `go generate ./...`. When a version of the Team Data API is published, both
// files of the previous one are kept as openapi-<its date>.yaml and .json. wire/reference
// generates the pages from them.
//
// eventtype.go adds the event types that the operator registered. tools.go describes the
// operations to assistants, as tools. The package imports store, wire/eventtype and
// wire/reference.
package openapi

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"teamdata/wire/reference"
)

// Admin is the document of the admin API.
var Admin = reference.Document{Version: "1", JSON: adminJSON, YAML: adminYAML}

//go:embed admin.json
var adminJSON []byte

//go:embed admin.yaml
var adminYAML []byte

// Pull is the document of the pull API, whose version is the current one of the Team Data
// API.
var Pull = reference.Document{Version: "2026-10-06", JSON: pullJSON, YAML: pullYAML}

//go:embed pull.json
var pullJSON []byte

//go:embed pull.yaml
var pullYAML []byte

//go:embed openapi*.yaml openapi*.json
var files embed.FS

// Of returns the document of a version of the Team Data API, given by its date.
func Of(version string) (reference.Document, bool) {
	d, ok := documents()[version]
	return d, ok
}

// documents returns those of the Team Data API by version.
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
