// Package openapi contains the description of the Team Data API, an OpenAPI 3.1
// document for each version, and generates the reference page from it.
//
// openapi.yaml is written by hand; openapi.json is generated from it by `go test
// ./internal/openapitest -update`. When a version is published, both files of the
// previous one are kept as openapi-<its date>.yaml and .json. The package imports
// only the standard library. spec.go reads what the page shows of a document;
// page.html lays it out.
package openapi

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
)

//go:embed *.yaml *.json
var files embed.FS

// Document describes one version of the API.
type Document struct {
	Version string // its date
	JSON    []byte
	YAML    []byte
}

// Of returns the document of a version, given by its date.
func Of(version string) (Document, bool) {
	d, ok := documents()[version]
	return d, ok
}

// documents returns all documents by version.
var documents = sync.OnceValue(func() map[string]Document {
	all := map[string]Document{}
	names, _ := fs.Glob(files, "*.json")
	for _, name := range names {
		d := mustRead(name)
		all[d.Version] = d
	}
	return all
})

// mustRead reads a document of this package's own; a test reads each.
func mustRead(name string) Document {
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
	return Document{head.Info.Version, inJSON, inYAML}
}

// ETag returns the entity tag of content.
func ETag(content []byte) string {
	sum := sha256.Sum256(content)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
}
