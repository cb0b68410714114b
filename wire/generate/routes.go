package main

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// writeRoutes writes the routes of an API, each with the handler of the operation's name.
func (g generator) writeRoutes(a api, c *contents) error {
	if a.routes == "" {
		return nil
	}
	operations := slices.Clone(c.operations)
	slices.SortStableFunc(operations, func(a, b operation) int { return slices.Compare(a.order(), b.order()) })
	var always, tests strings.Builder
	for _, o := range operations {
		table := &always
		if slices.Contains(o.Tags, "Tests") {
			table = &tests
		}
		fmt.Fprintf(table, "{%q, %q, %s, (*request).%s},\n", o.method, inBraces.ReplaceAllString(o.path, ":$1"), o.maxBody(), o.ID)
	}
	text := header + "package " + path.Base(path.Dir(a.routes)) + "\n\n// routes are the operations of the API's description.\nvar routes = []route{\n" + always.String() +
		"}\n\n// testRoutes are those that only a server with a test clock has.\nvar testRoutes = []route{\n" + tests.String() + "}\n"
	return g.write(a.routes, []byte(text))
}

// order is the path by whose order routes are added: the router takes /things/batch only
// after /things/{id}.
func (o operation) order() []string {
	return strings.Split(inBraces.ReplaceAllString(o.path, ""), "/")
}

// maxBody is the constant for the largest body that an operation takes. Where nothing has
// to be sent, an empty object may be.
func (o operation) maxBody() string {
	switch {
	case o.method == "GET" || o.method == "DELETE":
		return "noBody"
	case o.RequestBody == nil:
		return "maxBody"
	}
	return "max" + upper(cmp.Or(o.RequestBody.MaxBody, "body"))
}
