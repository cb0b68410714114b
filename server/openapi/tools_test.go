package openapi

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Every operation is a tool, which needs no other document to be understood, and whose
// schemas take the operation's own examples.
func TestTools(t *testing.T) {
	for version, document := range documents() {
		doc, err := openapi3.NewLoader().LoadFromData(document.JSON)
		if err != nil {
			t.Fatal(err)
		}
		tools, err := Tools(document)
		if err != nil {
			t.Fatal(err)
		}
		operations := map[string]*openapi3.Operation{}
		for _, path := range doc.Paths.Map() {
			for _, op := range path.Operations() {
				operations[op.OperationID] = op
			}
		}
		if len(operations) == 0 || len(operations) != len(tools) {
			t.Errorf("%s: %d tools of %d operations", version, len(tools), len(operations))
		}
		for _, tool := range tools {
			if op := operations[tool.Name]; op != nil {
				checkTool(t, tool, op)
			} else {
				t.Errorf("%s: there is no operation %s", version, tool.Name)
			}
		}
	}
}

func checkTool(t *testing.T, tool Tool, op *openapi3.Operation) {
	t.Helper()
	var d struct {
		Name, Title, Description  string
		InputSchema, OutputSchema any
		Annotations               struct{ ReadOnlyHint bool }
	}
	if err := json.Unmarshal(tool.Definition, &d); err != nil {
		t.Fatal(err)
	}
	if tool.Name != op.OperationID || d.Name != tool.Name || d.Title != op.Summary || !strings.HasPrefix(op.Description, d.Description) {
		t.Errorf("%s is described as %+v", op.OperationID, d)
	}
	if d.Annotations.ReadOnlyHint != (tool.Method == "GET") {
		t.Errorf("%s %s: only reads: %t", tool.Method, tool.Path, d.Annotations.ReadOnlyHint)
	}
	if bytes.Contains(tool.Definition, []byte(`"$ref"`)) {
		t.Errorf("%s refers to the document", tool.Name)
	}
	arguments := map[string]any{}
	for _, p := range op.Parameters {
		if p.Value.In != "header" {
			arguments[p.Value.Name] = p.Value.Example
		}
	}
	input, output := compiled(t, d.InputSchema), compiled(t, d.OutputSchema)
	valid(t, tool.Name, input, arguments)
	arguments["unknown"] = 1
	if input.Validate(arguments) == nil {
		t.Errorf("%s takes unknown arguments", tool.Name)
	}
	for name, example := range op.Responses.Value("200").Value.Content["application/json"].Examples {
		valid(t, fmt.Sprint(tool.Name, " answers ", name), output, example.Value.Value)
	}
}

func compiled(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool", schema); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, what string, s *jsonschema.Schema, value any) {
	t.Helper()
	if err := s.Validate(value); err != nil {
		t.Errorf("%s: %v", what, err)
	}
}

func TestArgumentsOfATool(t *testing.T) {
	for version, document := range documents() {
		tools, err := Tools(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			if tool.Name != "testWebhook" {
				continue
			}
			want := "[{id id path true} {idempotencyKey Idempotency-Key header false}]"
			if got := fmt.Sprint(tool.Parameters); got != want || tool.Path != "/webhooks/:id/test" {
				t.Errorf("%s: %s %s, want %s", version, tool.Path, got, want)
			}
		}
	}
}
