package admin

import (
	"sync"

	"teamdata/wire/look"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
	"teamdata/wire/web"
)

// The paths of the description and of the reference page. They need no token: they
// say the same of every server.
const (
	docsPath  = "/docs"
	docsStyle = docsPath + "/style.css"
	docsFont  = docsPath + "/" + look.FontName
	inJSON    = "/openapi.json"
	inYAML    = "/openapi.yaml"
)

// openRoutes are not described themselves.
var openRoutes = []route{
	{"GET", inJSON, noBody, describe(web.JSONType, openapi.Admin.JSON)},
	{"GET", inYAML, noBody, describe(reference.YAMLType, openapi.Admin.YAML)},
	{"GET", docsPath, noBody, (*request).showDocs},
	{"GET", docsStyle, noBody, func(r *request) error { reference.SendStyle(&r.Request); return nil }},
	{"GET", docsFont, noBody, func(r *request) error { reference.SendFont(&r.Request); return nil }},
}

// referencePage is made for the first request for it.
var referencePage = sync.OnceValues(func() (reference.Reference, error) {
	return reference.New(openapi.Admin, reference.Links{
		Page: basePath + docsPath, Style: basePath + docsStyle, Font: basePath + docsFont, JSON: basePath + inJSON, YAML: basePath + inYAML,
	})
})

func describe(contentType string, body []byte) func(*request) error {
	return func(r *request) error { reference.Send(&r.Request, contentType, body); return nil }
}

func (r *request) showDocs() error {
	page, err := referencePage()
	if err == nil {
		page.SendPage(&r.Request, r.api.config.Address)
	}
	return err
}
