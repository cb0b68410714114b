// Generate writes everything that follows from the descriptions of both APIs, which are
// the OpenAPI documents in YAML: each operation is said once, there.
//
//	npm ci --prefix contrib/clients/typescript
//	go generate ./...
//
// The types of requests and answers are made by oapi-codegen and openapi-typescript. What
// this package makes itself is what neither of them does: the document in JSON, in the
// order of the one in YAML; methods that page, retry and repeat under one Idempotency-Key
// as the clients do, where oapi-codegen's return an answer of any status; and the aliases
// by which the Go clients share their types.
//
// A method of a client that is not as the others, such as one that streams, is written by
// hand in the file beside the generated one, which then leaves it out.
package main

import (
	"errors"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:generate go run . ../..

// api is one API: its document, and what is made of it. Paths are relative to the root of
// the module.
type api struct {
	document         string // in YAML; the one in JSON stands beside it
	GoDir, GoPackage string // of the Go client, whose types are below it
	TypeScriptTypes  string
	TypeScriptClient string
	routes           string // empty: they are written by hand
	docs             string // empty: they have no table of the operations
}

var apis = []api{
	{"server/openapi/openapi.yaml", "client", "teamdata", typeScript + "types.gen.ts", typeScript + "client.gen.ts", "", ""},
	{"admin/openapi.yaml", "client/admin", "admin", typeScript + "admin.gen.ts", typeScript + "admin-client.gen.ts", "admin/routes.gen.go", "docs/admin-api.md"},
}

const typeScript = "contrib/clients/typescript/src/"

// goTypes is the folder of an API's types in Go.
func (a api) goTypes() string { return a.GoDir + "/api" }

// generator reads below one folder, and writes below another, which is the same but in
// a test.
type generator struct{ from, to string }

// main writes below the folder that is its argument. It runs in its own folder.
func main() {
	log.SetFlags(0)
	log.SetPrefix("generate: ")
	g := generator{from: os.Args[1], to: os.Args[1]}
	if err := errors.Join(g.writeOwn(), g.writeGoTypes(), g.writeTypeScriptTypes()); err != nil {
		log.Fatal(err)
	}
}

func (g generator) read(file string) ([]byte, error) {
	return os.ReadFile(filepath.Join(g.from, filepath.FromSlash(file)))
}

// target returns where a file is written, in a folder that is there.
func (g generator) target(file string) (string, error) {
	path := filepath.Join(g.to, filepath.FromSlash(file))
	return path, os.MkdirAll(filepath.Dir(path), 0o755)
}

func (g generator) write(file string, content []byte) error {
	path, err := g.target(file)
	if err != nil {
		return err
	}
	return os.WriteFile(path, content, 0o644)
}

// writeOwn writes what needs no other generator.
func (g generator) writeOwn() error {
	for _, a := range apis {
		d, err := g.readDocument(a.document)
		if err != nil {
			return err
		}
		c, err := d.contents()
		if err != nil {
			return err
		}
		if err := errors.Join(g.writeJSON(a), g.writeClients(a, c), g.writeRoutes(a, c), g.writeDocs(a, c)); err != nil {
			return err
		}
	}
	return nil
}

// writeJSON writes a document in JSON, and those of earlier versions, which stand beside
// it.
func (g generator) writeJSON(a api) error {
	documents, err := fs.Glob(os.DirFS(g.from), path.Dir(a.document)+"/*.yaml")
	if err != nil {
		return err
	}
	for _, name := range documents {
		d, err := g.readDocument(name)
		if err == nil {
			err = g.write(strings.TrimSuffix(name, ".yaml")+".json", d.json)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
