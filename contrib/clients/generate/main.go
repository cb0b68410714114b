// Generate generates the types of both clients from the descriptions of both APIs:
//
//	npm ci --prefix contrib/clients/typescript
//	go generate ./contrib/clients/...
//
// It hands the schemas, and those of the events, to oapi-codegen and
// openapi-typescript. What they would make of the operations is written by hand.
package main

import (
	"encoding/json"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

//go:generate go run . ../../..

const oapiCodegen = "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2"

// main writes below the folder that is its argument. It runs in its own folder.
func main() {
	log.SetFlags(0)
	log.SetPrefix("generate: ")
	folder, err := os.MkdirTemp("", "generate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	for _, api := range []struct{ document, name, goFile, typeScriptFile string }{
		{"../../../server/openapi/openapi.json", "teamdata", "client/types.gen.go", "contrib/clients/typescript/src/types.gen.ts"},
		{"../../../admin/openapi.json", "admin", "client/admin/types.gen.go", "contrib/clients/typescript/src/admin.gen.ts"},
	} {
		schemas := filepath.Join(folder, api.name+"-schemas.json")
		reduce(api.document, schemas, shorten)
		run("go", "run", oapiCodegen, "-config", "types.yaml", "-package", api.name, "-o", output(api.goFile), schemas)
		reduce(api.document, schemas, func(any) {})
		run("../typescript/node_modules/.bin/openapi-typescript", schemas, "--output", output(api.typeScriptFile),
			"--root-types", "--root-types-no-schema-prefix", "--root-types-keep-casing")
	}
}

func output(file string) string {
	path := filepath.Join(os.Args[1], filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		log.Fatal(err)
	}
	return path
}

func run(name string, args ...string) {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		log.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

type object = map[string]any

// reduce writes a document of the schemas in another one, each after a change. The body
// of the webhook onMemberAdded is MemberAdded among them; the error is not, for both
// clients have it by hand.
func reduce(from, to string, change func(schema any)) {
	text, err := os.ReadFile(from)
	if err != nil {
		log.Fatal(err)
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
	if err := json.Unmarshal(text, &document); err != nil {
		log.Fatal(err)
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
	if err == nil {
		err = os.WriteFile(to, reduced, 0o600)
	}
	if err != nil {
		log.Fatal(err)
	}
}

// shorten leaves out what makes types in Go longer and says little in them: examples, a
// type for each constant, and code that keeps the properties which are not described.
func shorten(schema any) {
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
	for _, property := range properties {
		shorten(property)
	}
	shorten(o["items"])
}
