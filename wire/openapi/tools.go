package openapi

import (
	"encoding/json"
	"fmt"
	"strings"

	"teamdata/wire/reference"
)

// Tool is an operation as the Model Context Protocol describes it to assistants.
type Tool struct {
	Name       string // the operation's id
	Method     string
	Path       string // below the API's base, with parameters like :id
	Parameters []ToolParameter
	Definition []byte // JSON
}

// ToolParameter is a parameter of an operation that the tool has an argument for.
type ToolParameter struct {
	Argument string // such as idempotencyKey
	Name     string // such as Idempotency-Key
	In       string // path, query or header
	Required bool
}

// toolOperation is what a tool needs of an operation, with its schemas as they are.
type toolOperation struct {
	OperationID, Summary, Description string
	Parameters                        []toolParameter
	Responses                         map[string]struct {
		Content map[string]struct{ Schema any }
	}
}

type toolParameter struct {
	Name, In, Description string
	Required              bool
	Schema                map[string]any
}

// Tools returns the operations of a document as tools, in their order.
func Tools(d reference.Document) (tools []Tool, err error) {
	var document any
	var s struct {
		Paths reference.Object[reference.Object[json.RawMessage]]
	}
	if err := json.Unmarshal(d.JSON, &document); err != nil {
		return nil, err
	}
	if err := json.Unmarshal(d.JSON, &s); err != nil {
		return nil, err
	}
	for _, path := range s.Paths {
		for _, method := range path.Value {
			t := Tool{Method: strings.ToUpper(method.Key), Path: placeholders.Replace(path.Key)}
			if err := t.describe(document, method.Value); err != nil {
				return nil, fmt.Errorf("%s %s: %w", t.Method, t.Path, err)
			}
			tools = append(tools, t)
		}
	}
	return tools, nil
}

// placeholders turns {id} into :id.
var placeholders = strings.NewReplacer("{", ":", "}", "")

// describe sets what the operation itself says.
func (t *Tool) describe(document any, operation json.RawMessage) error {
	var in any
	if err := json.Unmarshal(operation, &in); err != nil {
		return err
	}
	whole, err := json.Marshal(resolved(document, in))
	if err != nil {
		return err
	}
	var op toolOperation
	if err := json.Unmarshal(whole, &op); err != nil {
		return err
	}
	t.Name = op.OperationID
	properties, required := map[string]any{}, []string{}
	for _, p := range op.Parameters {
		argument, ok := argumentOf(p)
		if !ok {
			continue
		}
		t.Parameters = append(t.Parameters, ToolParameter{argument, p.Name, p.In, p.Required})
		p.Schema["description"] = strings.TrimSpace(p.Description)
		properties[argument] = p.Schema
		if p.Required {
			required = append(required, argument)
		}
	}
	reads := t.Method == "GET"
	t.Definition, err = json.Marshal(map[string]any{
		"name": op.OperationID, "title": op.Summary, "description": strings.TrimSpace(op.Description),
		"inputSchema":  map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false},
		"outputSchema": op.Responses["200"].Content["application/json"].Schema,
		"annotations":  map[string]any{"readOnlyHint": reads, "destructiveHint": false, "idempotentHint": reads, "openWorldHint": !reads},
	})
	return err
}

// argumentOf returns the name of a parameter's argument. Most headers are about the
// exchange over HTTP, and have none.
func argumentOf(p toolParameter) (name string, ok bool) {
	if p.In != "header" {
		return p.Name, true
	}
	return "idempotencyKey", p.Name == "Idempotency-Key"
}

// resolved returns a value of the document with what its references refer to in their
// places.
func resolved(document, value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = resolved(document, value[i])
		}
	case map[string]any:
		if ref, ok := value["$ref"].(string); ok {
			return resolved(document, referred(document, ref))
		}
		for key := range value {
			value[key] = resolved(document, value[key])
		}
	}
	return value
}

// referred returns what a reference such as #/components/schemas/Member refers to; nil
// if that is nothing.
func referred(document any, ref string) any {
	for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		part, _ := document.(map[string]any)
		document = part[key]
	}
	return document
}
