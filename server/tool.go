package server

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/julienschmidt/httprouter"

	"teamdata/internal/canonical"
	"teamdata/store"
	"teamdata/wire/openapi"
)

// tool is an operation that assistants call, with its route.
type tool struct {
	openapi.Tool
	route *route
}

// toolsOfVersions returns the tools of each version, which are read at first use.
func (s *Server) toolsOfVersions() (all []func() ([]tool, error)) {
	for _, v := range s.config.versions {
		all = append(all, sync.OnceValues(func() ([]tool, error) { return s.toolsOf(v.date) }))
	}
	return all
}

func (s *Server) toolsOf(version string) (tools []tool, err error) {
	document, ok := s.config.documents(version)
	if !ok {
		return nil, errNoDescription
	}
	described, err := openapi.Tools(document)
	for _, d := range described {
		if rt := routeOf(d.Method, d.Path); rt != nil {
			tools = append(tools, tool{d, rt})
		}
	}
	return tools, err
}

// routeOf returns a route; nil if there is none.
func routeOf(method, path string) *route {
	for i := range routes {
		if routes[i].method == method && routes[i].path == path {
			return &routes[i]
		}
	}
	return nil
}

// request returns the request for the tool's route that says what the arguments say, in
// its path, query and headers. from is the request that the call came with.
func (t *tool) request(from *http.Request, arguments map[string]json.RawMessage) (*http.Request, httprouter.Params, error) {
	if err := t.checkNames(arguments); err != nil {
		return nil, nil, err
	}
	path, params, query, header := t.Path, httprouter.Params(nil), url.Values{}, http.Header{}
	for _, p := range t.Parameters {
		value, given, err := argument(p, arguments[p.Argument])
		switch {
		case err != nil:
			return nil, nil, err
		case !given:
		case p.In == "path":
			path = strings.Replace(path, ":"+p.Name, value, 1)
			params = append(params, httprouter.Param{Key: p.Name, Value: value})
		case p.In == "query":
			query.Set(p.Name, value)
		default:
			header[p.Name] = []string{value}
		}
	}
	r := *from
	r.Method, r.URL, r.Header = t.Method, &url.URL{Path: basePath + path, RawQuery: query.Encode()}, header
	r.Body, r.ContentLength = http.NoBody, 0
	return &r, params, nil
}

// checkNames checks that the tool has all these arguments: an assistant that misspells
// one would not notice that it is ignored.
func (t *tool) checkNames(arguments map[string]json.RawMessage) error {
	var names []string
	for _, p := range t.Parameters {
		names = append(names, p.Argument)
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		switch {
		case len(names) == 0:
			return store.Errorf(store.CodeBadRequest, "The tool %s takes no arguments.", t.Name)
		case !slices.Contains(names, name):
			return store.Errorf(store.CodeBadRequest, "The tool %s has no argument %.40q.", t.Name, name).Advise("It takes %s.", strings.Join(names, ", "))
		}
	}
	return nil
}

// argument returns an argument as the path, the query or a header has it: as text, and a
// whole number without fraction and exponent. null stands for one that is not given.
func argument(p openapi.ToolParameter, value json.RawMessage) (text string, given bool, err error) {
	switch {
	case len(value) == 0, string(value) == "null":
	case value[0] == '"':
		given = json.Unmarshal(value, &text) == nil
	case value[0] == '{', value[0] == '[':
		return "", false, store.Invalid(p.Argument, "must be a single value")
	case value[0] == 't', value[0] == 'f':
		text, given = string(value), true
	default:
		if text, given = canonical.Integer(string(value)); !given {
			text, given = string(value), true
		}
	}
	if p.Required && text == "" {
		return "", false, store.Invalid(p.Argument, "is missing")
	}
	return text, given, nil
}
