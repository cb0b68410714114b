package main

import (
	"bytes"
	"embed"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed client.*.tmpl
var texts embed.FS

var templates = template.Must(template.ParseFS(texts, "*"))

// client is what the templates of clients show.
type client struct {
	api
	Header, Module, Version, Path string
	Operations                    []any
}

// Admin reports whether it is the client of the admin API, whose package is not that of
// the transport.
func (c client) Admin() bool { return c.GoPackage != "teamdata" }

// TypesModule is where the TypeScript client has its types from.
func (c client) TypesModule() string { return path.Base(c.TypeScriptTypes) }

// writeClients writes the methods of both clients of an API.
func (g generator) writeClients(a api, c *contents) error {
	write := func(file, declared, text string, as func(operation) any) error {
		module, err := g.module()
		if err != nil {
			return err
		}
		operations, err := g.others(c, path.Dir(file), declared, as)
		if err != nil {
			return err
		}
		var made bytes.Buffer
		if err := templates.ExecuteTemplate(&made, text, client{a, header, module, c.Info.Version, c.Servers[0].URL, operations}); err != nil {
			return err
		}
		return g.write(file, made.Bytes())
	}
	return errors.Join(
		write(a.goOperations(), `(?m)^func \(c \*Client\) (\w+)\(`, "client.go.tmpl", func(o operation) any { return goOperation{o} }),
		write(a.TypeScriptClient, `(?m)^  (?:async )?(\w+)\(`, "client.ts.tmpl", func(o operation) any { return typeScriptOperation{o, a.part} }),
	)
}

// others are the operations that no file in the folder of a client declares by hand.
func (g generator) others(c *contents, folder, declared string, as func(operation) any) (others []any, err error) {
	files, err := fs.Glob(os.DirFS(g.from), folder+"/*.*")
	var byHand []byte
	for _, file := range files {
		if strings.Contains(file, ".gen.") || strings.Contains(file, "_test.") {
			continue
		}
		text, err := g.read(file)
		if err != nil {
			return nil, err
		}
		byHand = append(byHand, text...)
	}
	found := regexp.MustCompile(declared).FindAllSubmatch(byHand, -1)
	for _, o := range c.operations {
		if !slices.ContainsFunc(found, func(m [][]byte) bool { return strings.EqualFold(string(m[1]), o.ID) }) {
			others = append(others, as(o))
		}
	}
	return others, err
}
