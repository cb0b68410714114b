package admin

import (
	_ "embed"
	"sync"

	"teamdata/internal/reference"
	"teamdata/internal/web"
)

// The paths of the description and of the reference page. They need no token: they
// say the same of every server.
const (
	docsPath  = "/docs"
	docsStyle = docsPath + "/style.css"
	inJSON    = "/openapi.json"
	inYAML    = "/openapi.yaml"
)

// openRoutes are not described themselves.
var openRoutes = []route{
	{"GET", inJSON, noBody, (*request).describeInJSON},
	{"GET", inYAML, noBody, (*request).describeInYAML},
	{"GET", docsPath, noBody, (*request).showDocs},
	{"GET", docsStyle, noBody, (*request).sendDocsStyle},
}

// document is the API's description. openapi.json is made from openapi.yaml, which is
// written by hand, by `go generate ./...`.
var document = reference.Document{Version: "1", JSON: documentJSON, YAML: documentYAML}

//go:embed openapi.json
var documentJSON []byte

//go:embed openapi.yaml
var documentYAML []byte

// referencePage is made for the first request for it.
var referencePage = sync.OnceValues(func() (reference.Reference, error) {
	return reference.New(document, reference.Links{
		Page: basePath + docsPath, Style: basePath + docsStyle, JSON: basePath + inJSON, YAML: basePath + inYAML,
	})
})

func (r *request) describeInJSON() error { return r.describe(web.JSONType, document.JSON) }
func (r *request) describeInYAML() error { return r.describe(reference.YAMLType, document.YAML) }

func (r *request) describe(contentType string, body []byte) error {
	reference.Send(&r.Request, contentType, body)
	return nil
}

func (r *request) showDocs() error {
	page, err := referencePage()
	if err == nil {
		page.SendPage(&r.Request, r.api.config.Address)
	}
	return err
}

func (r *request) sendDocsStyle() error {
	reference.SendStyle(&r.Request)
	return nil
}
