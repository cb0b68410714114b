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
}

// NewRouter returns the router of routes, each for the method and the path below
// base given by pattern. serve gets every request, with its route, or nil where
// it has none; example is the path of one of them, below base.
func NewRouter[Route any](base, example string, routes []Route, pattern func(*Route) (method, path string), serve func(Request, *Route)) *Router {
	router := &Router{base: base, example: example}
	for i := range routes {
		route := &routes[i]
		method, path := pattern(route)
		router.Add(method, path, func(r Request) { serve(r, route) })
	}
	router.tree.NotFound = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve(Request{W: w, HTTP: r, Pattern: NoRoute, router: router}, nil)
	})
	return router
}

// Add adds a route. HEAD works wherever GET does.
func (router *Router) Add(method, path string, serve func(Request)) {
	pattern := router.base + path
	handle := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
		serve(Request{W: w, HTTP: r, Pattern: pattern, Params: params, router: router})
	}
	router.tree.Handle(method, pattern, handle)
	if method == http.MethodGet {
		router.tree.Handle(http.MethodHead, pattern, handle)
	}
}

// ServeHTTP passes a request to the router's serve.
func (router *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if hidesSlash(r.URL) {
		router.tree.NotFound.ServeHTTP(w, r)
		return
	}
	router.tree.ServeHTTP(w, r)
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
		handle, params, _ := router.tree.Lookup(method, u.Path)
		return handle == nil || hasEmptyParameter(params) || hidesSlash(u)
	})
	if len(allowed) == 0 {
		return store.Errorf(store.CodeNotFound, "There is no such route.").Advise("The routes begin with %s/, such as %[1]s%s.", router.base, router.example)
	}
	allow := strings.Join(allowed, ", ")
	h["Allow"] = []string{allow}
	return store.Errorf(store.CodeMethodNotAllowed, "This route takes %s only.", allow)
}
