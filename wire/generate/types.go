package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

// writeGoTypes writes the types of the Go clients, and the aliases of them in the
// packages of the clients.
func (g generator) writeGoTypes() error {
	err := g.writeTypes(api.goTypes, forGo, func(path, schemas string) error {
		return run("go", "run", oapiCodegen, "-config", "types.yaml", "-package", "api", "-o", path, schemas)
	})
	for _, a := range apis {
		if err == nil {
			err = g.writeAliases(a)
		}
	}
	return err
}

// writeTypeScriptTypes writes the types of the TypeScript client.
func (g generator) writeTypeScriptTypes() error {
	return g.writeTypes(func(a api) string { return a.TypeScriptTypes }, func(any) {}, func(path, schemas string) error {
		return run(filepath.Join(g.from, typeScript, "../node_modules/.bin/openapi-typescript"), schemas, "--output", path,
			"--root-types", "--root-types-no-schema-prefix", "--root-types-keep-casing")
	})
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

type object = map[string]any

// writeTypes has another generator make a file of each API from a document of the API's
// schemas alone, each after a change.
func (g generator) writeTypes(file func(api) string, change func(schema any), generate func(path, schemas string) error) error {
	for _, a := range apis {
		path, err := g.target(file(a))
		if err != nil {
			return err
		}
		schemas, err := g.writeSchemas(a, change)
		if err == nil {
			err = generate(path, schemas)
		}
		os.Remove(schemas)
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSchemas writes a document of an API's schemas to a temporary file. The body of the
// webhook onMemberAdded is MemberAdded among them; the error is not, for the clients have
// it by hand.
func (g generator) writeSchemas(a api, change func(schema any)) (path string, err error) {
	d, err := g.readDocument(a.document)
	if err != nil {
		return "", err
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
		return "", err
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
		return "", err
	}
	file, err := os.CreateTemp("", "schemas-*.json")
	if err != nil {
		return "", err
	}
	_, err = file.Write(reduced)
	return file.Name(), errors.Join(err, file.Close())
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
		if p["x-empty"] != nil {
			p["x-go-type-skip-optional-pointer"] = true
		}
		p["x-oapi-codegen-extra-tags"] = tags
	}
	forGo(o["items"])
}

// declared finds the types and the constants that a file of types has.
var declared = regexp.MustCompile(`(?m)^type (\w+) |^\t(\w+) +\w+ = `)

// writeAliases writes the names of an API's types into the package of its client.
func (g generator) writeAliases(a api) error {
	path, err := g.target(a.goTypes())
	if err != nil {
		return err
	}
	made, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	module, err := g.module()
	if err != nil {
		return err
	}
	var types, constants string
	for _, m := range declared.FindAllStringSubmatch(string(made), -1) {
		if m[1] != "" {
			types += fmt.Sprintf("%s = api.%[1]s\n", m[1])
		} else {
			constants += fmt.Sprintf("%s = api.%[1]s\n", m[2])
		}
	}
	text := header + "package " + a.GoPackage + "\n\nimport \"" + module + "/" + a.GoDir + "/api\"\n"
	text += "\n// The types of what is sent and answered.\ntype (\n" + types + ")\n"
	if constants != "" {
		text += "\n// Their values.\nconst (\n" + constants + ")\n"
	}
	return g.write(a.goAliases(), []byte(text))
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
