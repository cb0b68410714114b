package reference

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// shown is an operation or an event.
type shown struct {
	ID, Name, Summary, Text string
	Method, Path            string   // of an operation
	Tags                    []string // of an operation
	Curl                    string
	Parameters              []field
	Body                    []field  // of the request, or of the event
	Answers                 []answer // that are a success
	Examples                []example
	Schema                  string // of the event's data, where the fields don't say all of it
	Errors                  []failure
}

// group is the operations of a tag.
type group struct {
	ID, Name, Text string
	Operations     []shown
}

type answer struct {
	Status, Text string
	Fields       []field
	Examples     []example
}

type example struct{ Summary, JSON string }

type failure struct {
	Code, Status, Example, Text string
	Parts                       []partText // what it means there, where that is something else
}

// operations lists all operations. address is the base URL of the API in their
// commands.
func (s *spec) operations(address string) (list []shown) {
	for _, path := range s.Paths {
		for _, method := range path.Value.Operations {
			op := method.Value
			op.Parameters = append(path.Value.Parameters, op.Parameters...)
			list = append(list, s.operation(strings.ToUpper(method.Key), path.Key, address, op))
		}
	}
	return list
}

// introducesEvents tells whether a tag's text is about the events, with which it is shown.
func (s *spec) introducesEvents(tag string) bool { return tag == "Webhooks" && len(s.Webhooks) > 0 }

// groups are operations by their tags, in the order of those.
func (s *spec) groups(operations []shown) (list []group) {
	for _, tag := range s.Tags {
		g := group{ID: "operations-" + slug(tag.Name), Name: tag.Name}
		if !s.introducesEvents(tag.Name) {
			g.Text = tag.Description
		}
		for _, one := range operations {
			if slices.Contains(one.Tags, tag.Name) {
				g.Operations = append(g.Operations, one)
			}
		}
		list = append(list, g)
	}
	return list
}

func (s *spec) operation(method, path, address string, op operation) shown {
	one := shown{
		ID: op.OperationID, Name: method + " " + path, Method: method, Path: path, Summary: op.Summary, Text: op.Description,
		Tags: op.Tags, Curl: s.curl(method, address+path, op),
	}
	for _, p := range op.Parameters {
		p = s.parameter(p)
		one.Parameters = append(one.Parameters, s.listed(p.Name, p))
	}
	for _, c := range op.RequestBody.Content {
		one.Body = s.fields(c.Value.Schema)
	}
	for _, r := range op.Responses {
		whole := s.response(r.Value)
		if r.Value.Ref != "" {
			one.Errors = append(one.Errors, s.failure(r.Key, whole))
			continue
		}
		a := answer{Status: r.Key, Text: whole.Description, Examples: examplesOf(whole.Content)}
		for _, c := range whole.Content {
			a.Fields = s.fields(c.Value.Schema)
		}
		one.Answers = append(one.Answers, a)
	}
	slices.SortFunc(one.Errors, func(a, b failure) int { return strings.Compare(a.Status, b.Status) })
	return one
}

func (s *spec) events() (list []shown) {
	for _, event := range s.Webhooks {
		op := event.Value.Operations[0].Value
		content := op.RequestBody.Content
		one := shown{
			ID: event.Key, Name: event.Key, Summary: op.Summary, Text: op.Description,
			Body: s.fields(content[0].Value.Schema), Examples: examplesOf(content),
		}
		if !strings.Contains(event.Key, ".") { // it might be the anchor of something else
			one.ID = "event-type-" + event.Key
		}
		for _, p := range s.schema(content[0].Value.Schema).Properties {
			if source := s.schema(p.Value).Source; source != nil {
				one.Schema = indented(source)
			}
		}
		list = append(list, one)
	}
	return list
}

// eventHeaders returns the headers of all events.
func (s *spec) eventHeaders() (list []field) {
	if len(s.Webhooks) == 0 {
		return nil
	}
	for _, p := range s.Webhooks[0].Value.Operations[0].Value.Parameters {
		p = s.parameter(p)
		list = append(list, s.listed(p.Name, p))
	}
	return list
}

// each calls fn with each response of each operation, and its status.
func (s *spec) each(fn func(status string, r response)) {
	for _, path := range s.Paths {
		for _, method := range path.Value.Operations {
			for _, r := range method.Value.Responses {
				fn(r.Key, r.Value)
			}
		}
	}
}

// answerHeaders returns the headers of all answers, each once, in the order of
// the answers.
func (s *spec) answerHeaders() (list []field) {
	seen := map[string]bool{}
	s.each(func(_ string, r response) {
		for _, h := range s.response(r).Headers {
			if !seen[h.Key] {
				seen[h.Key] = true
				list = append(list, s.listed(h.Key, s.header(h.Value)))
			}
		}
	})
	return list
}

// failures returns the errors of all operations, in order of status.
func (s *spec) failures() (list []failure) {
	status := map[string]string{}
	s.each(func(code string, r response) { status[named(r.Ref)] = code })
	for _, r := range s.Components.Responses {
		list = append(list, s.failure(status[r.Key], r.Value))
	}
	return list
}

func (s *spec) failure(status string, r response) failure {
	example := r.Content[0].Value.Examples[0]
	return failure{Code: example.Key, Status: status, Example: indented(example.Value.Value), Text: r.Description}
}

func examplesOf(content Object[media]) (list []example) {
	for _, m := range content {
		if m.Value.Example != nil && strings.HasSuffix(m.Key, "json") {
			list = append(list, example{"An answer", indented(m.Value.Example)})
		}
		for _, e := range m.Value.Examples {
			list = append(list, example{e.Value.Summary, indented(e.Value.Value)})
		}
	}
	return list
}

func indented(value json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, value, "", "  "); err != nil {
		return string(value)
	}
	return b.String()
}

// curl returns a command that makes the request, with the parameters that the
// path needs, those that have a default, the key that makes a POST safe to retry,
// and the example of the body.
func (s *spec) curl(method, address string, op operation) string {
	query, rest := "", ""
	for _, p := range op.Parameters {
		switch p = s.parameter(p); {
		case p.In == "path":
			address = strings.ReplaceAll(address, "{"+p.Name+"}", exampleOf(p))
		case p.In == "query" && p.Schema.Default != nil:
			query = "?" + p.Name + "=" + exampleOf(p)
		case p.Name == "Idempotency-Key":
			rest += " \\\n  -H '" + p.Name + ": " + exampleOf(p) + "'"
		}
	}
	for _, m := range op.RequestBody.Content {
		var line bytes.Buffer
		if err := json.Compact(&line, m.Value.example()); err == nil && line.String() != "{}" {
			rest += " \\\n  --json '" + strings.ReplaceAll(line.String(), "'", `'\''`) + "'"
		}
	}
	verb := ""
	if method != "GET" {
		verb = "-X " + method + " "
	}
	return "curl " + verb + "'" + address + query + "' \\\n  -H \"Authorization: Bearer $" + s.key() + `"` + rest
}

func exampleOf(p parameter) string { return fmt.Sprint(p.Example) }
