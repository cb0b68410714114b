package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"go/format"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

//go:embed client.go.tmpl
var goText string

//go:embed client.ts.tmpl
var typeScriptText string

var (
	goTemplate         = template.Must(template.New("client.go").Parse(goText))
	typeScriptTemplate = template.Must(template.New("client.ts").Parse(typeScriptText))
)

// client is what the templates of clients show.
type client struct {
	api
	Header, Module, Version, Path string
	Operations                    []any
}

func (c client) Admin() bool { return c.GoPackage == "admin" }

// TypesModule is where the TypeScript client has its types from.
func (c client) TypesModule() string { return path.Base(c.TypeScriptTypes) }

// writeClients writes the methods of both clients of an API.
func (g generator) writeClients(a api, c *contents) error {
	module, err := g.module()
	if err != nil {
		return err
	}
	out := client{api: a, Header: header, Module: module, Version: c.Info.Version, Path: c.Servers[0].URL}
	out.Operations, err = g.others(c, a.GoDir, `(?m)^func \(c \*Client\) (\w+)\(`, func(o operation) any { return goOperation{o, a} })
	if err != nil {
		return err
	}
	var made bytes.Buffer
	if err := goTemplate.Execute(&made, out); err != nil {
		return err
	}
	formatted, err := format.Source(made.Bytes())
	if err != nil {
		return err
	}
	if err := g.write(a.GoDir+"/operations.gen.go", formatted); err != nil {
		return err
	}
	out.Operations, err = g.others(c, path.Dir(a.TypeScriptClient), `(?m)^  (?:async )?(\w+)\(`, func(o operation) any { return typeScriptOperation{o} })
	if err != nil {
		return err
	}
	made.Reset()
	if err := typeScriptTemplate.Execute(&made, out); err != nil {
		return err
	}
	return g.write(a.TypeScriptClient, made.Bytes())
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

// goOperation is an operation as a method of the Go client.
type goOperation struct {
	operation
	api api
}

func (o goOperation) Name() string { return upper(o.ID) }

func upper(name string) string {
	return strings.ToUpper(name[:min(1, len(name))]) + name[min(1, len(name)):]
}

func (o goOperation) Comment() string {
	return wrap(strings.ReplaceAll(o.Name()+" "+o.sentences(), "`", ""), "// ", 88)
}

// Verb is the method's constant in net/http.
func (o goOperation) Verb() string {
	return "http.Method" + upper(strings.ToLower(o.method))
}

// Package is how the package of a client names the package teamdata.
func (o goOperation) Package() string {
	if o.api.GoPackage == "teamdata" {
		return ""
	}
	return "teamdata."
}

// goName is an id's name as Go writes it. A type is a name, for the word is taken.
func goName(id string) string {
	if id == "type" {
		return "name"
	}
	return strings.TrimSuffix(id, "Id") + strings.Replace(id[len(strings.TrimSuffix(id, "Id")):], "Id", "ID", 1)
}

// IDs are the arguments that the path takes.
func (o goOperation) IDs() string {
	var names []string
	for _, id := range o.ids() {
		names = append(names, goName(id))
	}
	if len(names) == 0 {
		return ""
	}
	return strings.Join(names, ", ") + " string"
}

// Target is the path, as an expression.
func (o goOperation) Target() string {
	path := inBraces.ReplaceAllStringFunc(o.path, func(id string) string {
		return `"+url.PathEscape(` + goName(id[1:len(id)-1]) + `)+"`
	})
	return strings.TrimSuffix(`"`+path+`"`, `+""`)
}

// Sends is the type of the argument that is sent.
func (o goOperation) Sends() string {
	if e := o.Sent(); e.Property != "" {
		return "[]" + e.itemType()
	}
	return o.Body()
}

// Content is what is sent, as an expression.
func (o goOperation) Content() string {
	switch e := o.Sent(); {
	case o.Body() == "":
		return "nil"
	case e.Property != "":
		return o.Body() + "{" + upper(e.Property) + ": " + o.Argument() + "}"
	}
	return o.Argument()
}

// Answer is the type of the answer; empty: there is none. What is made in one of two ways
// has a type that is written by hand, such as CreatedReplay.
func (o goOperation) Answer() string {
	switch answers := o.answers(); len(answers) {
	case 0:
		return ""
	case 1:
		return answers[0]
	}
	return "Created" + lastWord.FindString(o.ID)
}

// Returns is the type of what the method returns; empty: only an error.
func (o goOperation) Returns() string {
	if e := o.Answered(); e.Property != "" {
		return "[]" + e.itemType()
	}
	return o.Answer()
}

// Field is the field of the answer that is returned.
func (o goOperation) Field() string { return upper(o.Answered().Property) }

// itemType is the type of a list's items, which has one name in both languages.
func (e envelope) itemType() string { return cmp.Or(e.items.name(), "string") }
