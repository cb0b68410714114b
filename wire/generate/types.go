package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

const (
	oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"
	typesFile   = "/types.gen.go"
)

// writeGoTypes writes the types of the Go clients, and the aliases of them in the
// packages of the clients.
func (g generator) writeGoTypes() error {
	for _, a := range apis {
		err := g.withSchemas(a, forGo, func(schemas string) error {
			path, err := g.target(a.goTypes() + typesFile)
			if err != nil {
				return err
			}
			return run("go", "run", oapiCodegen, "-config", "types.yaml", "-package", "api", "-o", path, schemas)
		})
		if err == nil {
			err = g.writeAliases(a)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeTypeScriptTypes writes the types of the TypeScript client.
func (g generator) writeTypeScriptTypes() error {
	for _, a := range apis {
		err := g.withSchemas(a, func(any) {}, func(schemas string) error {
			path, err := g.target(a.TypeScriptTypes)
			if err != nil {
				return err
			}
			return run(filepath.Join(g.from, typeScript, "../node_modules/.bin/openapi-typescript"), schemas, "--output", path,
				"--root-types", "--root-types-no-schema-prefix", "--root-types-keep-casing")
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

type object = map[string]any

// withSchemas calls a function with a file that is a document of the API's schemas alone,
// each after a change. The body of the webhook onMemberAdded is MemberAdded among them;
// the error is not, for the clients have it by hand.
func (g generator) withSchemas(a api, change func(schema any), do func(file string) error) error {
	d, err := g.readDocument(a.document)
	if err != nil {
		return err
	}
	var document struct {
		OpenAPI, Info any
		Components    struct{ Schemas object }
		Webhooks      map[string]struct {
			Post struct {
				OperationID string
				RequestBody struct {
					Content map[string]struct{ Schema any }
				}
			}
		}
	}
	if err := json.Unmarshal(d.json, &document); err != nil {
		return err
	}
	schemas := document.Components.Schemas
	delete(schemas, "Error")
	for _, webhook := range document.Webhooks {
		schemas[strings.TrimPrefix(webhook.Post.OperationID, "on")] = webhook.Post.RequestBody.Content["application/json"].Schema
	}
	for _, schema := range schemas {
		change(schema)
	}
	reduced, err := json.Marshal(object{"openapi": document.OpenAPI, "info": document.Info, "paths": object{}, "components": object{"schemas": schemas}})
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "generate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "schemas.json")
	if err := os.WriteFile(file, reduced, 0o600); err != nil {
		return err
	}
	return do(file)
}

// forGo leaves out what makes types in Go longer and says little in them: examples, a
// type for each constant, and code that keeps the properties which are not described. It
// adds the order of the fields, and the tags by which wire/strictjson reads them.
func forGo(schema any) {
	o, ok := schema.(object)
	if !ok {
		return
	}
	delete(o, "examples")
	delete(o, "const")
	properties, _ := o["properties"].(object)
	if properties != nil {
		delete(o, "additionalProperties")
	}
	required, _ := o["required"].([]any)
	for name, property := range properties {
		forGo(property)
		p, ok := property.(object)
		if !ok {
			continue
		}
		// What is required comes first, in its order, which is that of the answers.
		p["x-order"] = (slices.Index(required, any(name)) + len(properties)) % len(properties)
		tags := object{}
		if p["minimum"] != nil && p["maximum"] != nil {
			tags["range"] = fmt.Sprintf("%.0f,%.0f", p["minimum"], p["maximum"])
		}
		if p["x-null"] != nil {
			tags["null"] = p["x-null"]
		}
		p["x-oapi-codegen-extra-tags"] = tags
	}
	forGo(o["items"])
}

// writeAliases writes the names of an API's types into the package of its client.
func (g generator) writeAliases(a api) error {
	path, err := g.target(a.goTypes() + typesFile)
	if err != nil {
		return err
	}
	types, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return err
	}
	module, err := g.module()
	if err != nil {
		return err
	}
	names := map[token.Token]string{}
	for _, decl := range types.Decls {
		decl, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names[token.TYPE] += fmt.Sprintf("%s = api.%[1]s\n", spec.Name)
			case *ast.ValueSpec:
				names[token.CONST] += fmt.Sprintf("%s = api.%[1]s\n", spec.Names[0])
			}
		}
	}
	text := header + "package " + a.GoPackage + "\n\nimport \"" + module + "/" + a.goTypes() + "\"\n"
	text += "\n// The types of what is sent and answered.\ntype (\n" + names[token.TYPE] + ")\n"
	if names[token.CONST] != "" {
		text += "\n// Their values.\nconst (\n" + names[token.CONST] + ")\n"
	}
	return g.write(a.GoDir+typesFile, []byte(text))
}

// module returns the path of this module, which users may have renamed.
func (g generator) module() (string, error) {
	text, err := g.read("go.mod")
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	return strings.TrimPrefix(line, "module "), nil
}
