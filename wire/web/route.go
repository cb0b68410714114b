package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

// NoRoute is the pattern of a request without a route: a path chosen by a client
// must not name a metric.
const NoRoute = "none"

// Router finds the routes of one API. It redirects nothing and answers nothing by
// itself.
type Router struct {
	base    string
	example string
	tree    httprouter.Router
	named   httprouter.Router   // what goes before tree: routes with a name where one in tree has a parameter
	added   map[string][]string // the patterns in tree, by method
	unknown http.HandlerFunc    // answers a request without a route
}

// NewRouter returns the router of routes, each for the method and the path below
// base given by pattern. serve gets every request, with its route, or nil where
// it has none; example is the path of one of them, below base.
func NewRouter[Route any](base, example string, routes []Route, pattern func(*Route) (method, path string), serve func(Request, *Route)) *Router {
	router := &Router{base: base, example: example, added: map[string][]string{}}
	for i := range routes {
		route := &routes[i]
		method, path := pattern(route)
		router.Add(method, path, func(r Request) { serve(r, route) })
	}
	router.unknown = func(w http.ResponseWriter, r *http.Request) {
		serve(Request{W: w, HTTP: r, Pattern: NoRoute, router: router}, nil)
	}
	return router
}

// Add adds a route. HEAD works wherever GET does. A route with a name where another
// has a parameter, such as /things/batch beside /things/:id, is added after that one
// and found before it.
func (router *Router) Add(method, path string, serve func(Request)) {
	pattern := router.base + path
	handle := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		serve(Request{W: w, HTTP: r, Pattern: pattern, Params: params, router: router})
	}
	router.handle(method, pattern, handle)
	if method == http.MethodGet {
		router.handle(http.MethodHead, pattern, handle)
	}
}

// handle adds to the tree, or to named what httprouter can't have in the same tree.
func (router *Router) handle(method, pattern string, handle httprouter.Handle) {
	names := func(other string) bool { return namesParameter(pattern, other) }
	if slices.ContainsFunc(router.added[method], names) {
		router.named.Handle(method, pattern, handle)
		return
	}
	router.added[method] = append(router.added[method], pattern)
	router.tree.Handle(method, pattern, handle)
}

// namesParameter reports whether a pattern has a name where another, which is the
// same up to there, has a parameter.
func namesParameter(pattern, other string) bool {
	have, want := strings.Split(pattern, "/"), strings.Split(other, "/")
	for i := range min(len(have), len(want)) {
		if have[i] != want[i] {
			return strings.HasPrefix(want[i], ":") && !strings.HasPrefix(have[i], ":")
		}
	}
	return false
}

// find returns the route of a path, or nil.
func (router *Router) find(method, path string) (httprouter.Handle, httprouter.Params) {
	handle, params, _ := router.named.Lookup(method, path)
	if handle == nil {
		handle, params, _ = router.tree.Lookup(method, path)
	}
	return handle, params
}

// ServeHTTP passes a request to the router's serve.
func (router *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if handle, params := router.find(r.Method, r.URL.Path); handle != nil && !hidesSlash(r.URL) {
		handle(w, r, params)
		return
	}
	router.unknown(w, r)
}

// hidesSlash reports whether a path has an escaped slash, which no name contains:
// decoded, it would be taken for a separator.
func hidesSlash(u *url.URL) bool { return strings.Contains(strings.ToLower(u.RawPath), "%2f") }

func hasEmptyParameter(params httprouter.Params) bool {
	return slices.ContainsFunc(params, func(p httprouter.Param) bool { return p.Value == "" })
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// missing returns why a request has no route; see [Request.CheckRoute].
func (router *Router) missing(u *url.URL, h http.Header) error {
	allowed := slices.DeleteFunc(slices.Clone(methods), func(method string) bool {
		handle, params := router.find(method, u.Path)
		return handle == nil || hasEmptyParameter(params) || hidesSlash(u)
	})
	if len(allowed) == 0 {
		return store.Errorf(store.CodeNotFound, "There is no such route.").Advise("The routes begin with %s/, such as %[1]s%s.", router.base, router.example)
	}
	allow := strings.Join(allowed, ", ")
	h["Allow"] = []string{allow}
	return store.Errorf(store.CodeMethodNotAllowed, "This route takes %s only.", allow)
}
