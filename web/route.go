package web

import (
	"net/http"
	"slices"
	"strings"

	"github.com/julienschmidt/httprouter"

	"teamdata/store"
)

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
