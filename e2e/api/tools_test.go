package api_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/referee"
	"teamdata/wire/openapi"
)

// Every operation is a tool, which needs no other document to be understood, and whose
// schemas take the operation's own examples.
func TestTools(t *testing.T) {
	for version, document := range documents(t) {
		doc := load(t, document)
		tools, err := openapi.Tools(document)
		kit.Must(t, err)
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

func checkTool(t *testing.T, tool openapi.Tool, op *openapi3.Operation) {
	t.Helper()
	var d struct {
		Name, Title, Description  string
		InputSchema, OutputSchema json.RawMessage
		Annotations               struct{ ReadOnlyHint bool }
	}
	kit.Must(t, json.Unmarshal(tool.Definition, &d))
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
	if err := checked(t, input, arguments); err != nil {
		t.Errorf("%s: %v", tool.Name, err)
	}
	arguments["unknown"] = 1
	if checked(t, input, arguments) == nil {
		t.Errorf("%s takes unknown arguments", tool.Name)
	}
	for name, example := range op.Responses.Value("200").Value.Content["application/json"].Examples {
		if err := checked(t, output, example.Value.Value); err != nil {
			t.Errorf("%s answers %s: %v", tool.Name, name, err)
		}
	}
}

func compiled(t *testing.T, schema []byte) contract.Check {
	t.Helper()
	check, err := referee.Compile(schema)
	kit.Must(t, err)
	return check
}

func checked(t *testing.T, check contract.Check, value any) error {
	t.Helper()
	text, err := json.Marshal(value)
	kit.Must(t, err)
	return check(text)
}
