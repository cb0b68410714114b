package admin

import (
	"sync"

	"teamdata/wire/openapi"
	"teamdata/wire/reference"
	"teamdata/wire/web"
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

// referencePage is made for the first request for it.
var referencePage = sync.OnceValues(func() (reference.Reference, error) {
	return reference.New(openapi.Admin, reference.Links{
		Page: basePath + docsPath, Style: basePath + docsStyle, JSON: basePath + inJSON, YAML: basePath + inYAML,
	})
})

func (r *request) describeInJSON() error { return r.describe(web.JSONType, openapi.Admin.JSON) }
func (r *request) describeInYAML() error { return r.describe(reference.YAMLType, openapi.Admin.YAML) }

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
