package server

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"teamdata/store"
	"teamdata/wire/look"
	"teamdata/wire/openapi"
	"teamdata/wire/reference"
	"teamdata/wire/web"
)

// The paths of the reference, which takes no key.
const (
	docsPath  = "/docs"
	docsStyle = docsPath + "/style.css"
	docsFont  = docsPath + "/" + look.FontName
	docsText  = "/llms.txt"
)

var docsLinks = reference.Links{
	Page: docsPath, Style: docsStyle, Font: docsFont, Text: docsText, Guides: true,
	JSON: basePath + "/openapi.json", YAML: basePath + "/openapi.yaml",
}

// description is what the API says of itself, with the event types that the operator
// registered.
type description struct {
	generation uint64 // of the event types
	documents  map[string]taggedDocument
	reference  reference.Reference // of the current version
}

// taggedDocument has its entity tags: a document is too large to hash it for each request.
type taggedDocument struct {
	reference.Document
	jsonTag, yamlTag string
}

// descriptions keeps the latest one. Its zero value is ready to use.
type descriptions struct {
	mu     sync.Mutex // it is made by one request, while the others wait
	latest *description
}

// description returns that of the event types as they are now.
func (s *Server) description(ctx context.Context) (*description, error) {
	s.descriptions.mu.Lock()
	defer s.descriptions.mu.Unlock()
	// Read before the types, which may be newer, never older.
	generation := s.store.EventTypeGeneration()
	if d := s.descriptions.latest; d != nil && d.generation == generation {
		return d, nil
	}
	var types []store.EventType
	err := s.store.View(ctx, func(tx store.Tx) (err error) {
		types, err = store.OwnEventTypes(tx)
		return err
	})
	if err != nil {
		return nil, err
	}
	d, err := s.describeWith(types)
	if err != nil {
		return nil, err
	}
	d.generation, s.descriptions.latest = generation, d
	return d, nil
}

// describeWith describes the API in each version.
func (s *Server) describeWith(types []store.EventType) (*description, error) {
	d := &description{documents: map[string]taggedDocument{}}
	for _, v := range s.config.versions {
		document, ok := s.config.documents(v.date)
		if !ok {
			continue
		}
		document, err := openapi.With(document, types)
		if err != nil {
			return nil, err
		}
		d.documents[v.date] = taggedDocument{document, web.ETag(document.JSON), web.ETag(document.YAML)}
	}
	var err error
	d.reference, err = reference.New(d.documents[s.config.versions[0].date].Document, docsLinks, reference.Part{
		Title: "Pulling", Document: openapi.Pull, JSON: pullPath + "/openapi.json", YAML: pullPath + "/openapi.yaml",
	})
	return d, err
}

// docs is the reference of the current version.
type docs struct{ *Server }

func docsMounts(s *Server) []Mount { return []Mount{{docsPath, docs{s}}, {docsText, docs{s}}} }

func (d docs) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	r := &web.Request{W: w, HTTP: request, Docs: docsPath}
	if err := d.send(r); err != nil {
		r.Send(r.ErrorAnswer(web.PublicError(err)))
	}
}

func (d docs) send(r *web.Request) error {
	path := r.HTTP.URL.Path
	isGuide := strings.HasPrefix(path+"/", reference.GuidePath+"/")
	switch {
	case !isGuide && path != docsPath && path != docsPath+"/" && path != docsStyle && path != docsFont && path != docsText:
		return store.Errorf(store.CodeNotFound, "There is no such page.").Advise("The reference is at %s.", docsPath)
	case r.HTTP.Method != http.MethodGet && r.HTTP.Method != http.MethodHead:
		r.W.Header()["Allow"] = []string{"GET, HEAD"}
		return store.Errorf(store.CodeMethodNotAllowed, "This page takes GET, HEAD only.")
	case path == docsStyle:
		reference.SendStyle(r)
		return nil
	case path == docsFont:
		reference.SendFont(r)
		return nil
	}
	described, err := d.description(r.HTTP.Context())
	if err != nil {
		return err
	}
	switch {
	case isGuide:
		return described.reference.SendGuide(r, strings.TrimSuffix(path, "/"))
	case path == docsText:
		described.reference.SendText(r, d.config.Address)
	default:
		described.reference.SendPage(r, d.config.Address)
	}
	return nil
}

// Caches may keep the API's description for five minutes without revalidation.
var (
	describedFor  = []string{"public, max-age=300"}
	describedVary = []string{"API-Version"}
)

var errNoDescription = store.Errorf(store.CodeNotFound, "There is no description of this version.")

func (r *request) describeInJSON() error {
	return r.describe(web.JSONType, func(d taggedDocument) ([]byte, string) { return d.JSON, d.jsonTag })
}

func (r *request) describeInYAML() error {
	return r.describe(reference.YAMLType, func(d taggedDocument) ([]byte, string) { return d.YAML, d.yamlTag })
}

// describe answers with the description of the pinned version. It has that
// version already, so no change is applied to it.
func (r *request) describe(contentType string, in func(taggedDocument) (body []byte, tag string)) error {
	described, err := r.s.description(r.HTTP.Context())
	if err != nil {
		return err
	}
	document, ok := described.documents[r.s.config.versions[r.version].date]
	if !ok {
		return errNoDescription
	}
	body, tag := in(document)
	h := r.W.Header()
	h["Cache-Control"], h["Vary"] = describedFor, describedVary
	r.send(r.Tagged(store.Answer{Status: http.StatusOK, ContentType: contentType, Body: body}, tag))
	return nil
}
