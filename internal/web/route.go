package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

// NewRouter enters routes, each at the method and the path that place tells. HEAD
// is answered wherever GET is. The router redirects nothing and answers nothing by
// itself: serve gets every request, with its route, or nil where it has none.
func NewRouter[Route any](routes []Route, place func(*Route) (method, path string), serve func(Request, *Route)) *httprouter.Router {
	router := &httprouter.Router{}
	for i := range routes {
		route := &routes[i]
		handle := func(w http.ResponseWriter, r *http.Request, params httprouter.Params) {
			serve(Request{W: w, HTTP: r, Params: params}, route)
		}
		method, path := place(route)
		router.Handle(method, path, handle)
		if method == http.MethodGet {
			router.Handle(http.MethodHead, path, handle)
		}
	}
	router.NotFound = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serve(Request{W: w, HTTP: r}, nil) })
	return router
}

// HasEmpty tells whether a path's parameter is empty. The router takes that for a
// value; such a path is no route.
func HasEmpty(params httprouter.Params) bool {
	return slices.ContainsFunc(params, func(p httprouter.Param) bool { return p.Value == "" })
}

var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
}

// NoRoute is why a request has no route: methodNotAllowed, with the header Allow,
// where the path has routes for other methods; else notFound, with where the paths
// of the routes begin, and the rest of one of them.
func NoRoute(router *httprouter.Router, path, base, example string, h http.Header) error {
	allowed := slices.DeleteFunc(slices.Clone(methods), func(method string) bool {
		handle, params, _ := router.Lookup(method, path)
		return handle == nil || HasEmpty(params)
	})
	if len(allowed) == 0 {
		return store.Errorf(store.CodeNotFound, "There is no such route. The routes begin with %s/, such as %[1]s%s.", base, example)
	}
	allow := strings.Join(allowed, ", ")
	h["Allow"] = []string{allow}
	return store.Errorf(store.CodeMethodNotAllowed, "This route takes %s only.", allow)
}
