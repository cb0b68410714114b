package openapi

import (
	"fmt"
	"strings"
)

func (s *spec) operations(address string) (list []shown) {
	for _, path := range s.Paths {
		for _, method := range path.Value {
			list = append(list, s.operation(strings.ToUpper(method.Key), path.Key, address, method.Value))
		}
	}
	return list
}

func (s *spec) operation(method, path, address string, op operation) shown {
	one := shown{
		ID: op.OperationID, Name: method + " " + path, Summary: op.Summary, Text: paragraphs(op.Description),
		Curl: s.curl(method, address+path, op),
	}
	for _, p := range op.Parameters {
		p = s.parameter(p)
		one.Parameters = append(one.Parameters, s.listed(p.Name, p))
	}
	for _, r := range op.Responses {
		if r.Value.Ref != "" {
			one.Errors = append(one.Errors, s.failure(r.Key, s.response(r.Value)))
			continue
		}
		one.Fields, one.Examples = s.fields(r.Value.Content[0].Value.Schema, ""), s.examples(r.Value.Content)
	}
	return one
}

func (s *spec) events() (list []shown) {
	for _, event := range s.Webhooks {
		op := event.Value[0].Value
		content := op.RequestBody.Content
		list = append(list, shown{
			ID: event.Key, Name: event.Key, Summary: op.Summary, Text: paragraphs(op.Description),
			Fields: s.fields(content[0].Value.Schema, ""), Examples: s.examples(content),
		})
	}
	return list
}

// eventHeaders returns the headers of all events.
func (s *spec) eventHeaders() (list []field) {
	for _, p := range s.Webhooks[0].Value[0].Value.Parameters {
		p = s.parameter(p)
		list = append(list, s.listed(p.Name, p))
	}
	return list
}

// answerHeaders returns the headers of all answers, each once, in the order of
// the answers.
func (s *spec) answerHeaders() (list []field) {
	seen := map[string]bool{}
	add := func(headers pairs[parameter]) {
		for _, h := range headers {
			if !seen[h.Key] {
				seen[h.Key] = true
				list = append(list, s.listed(h.Key, s.Components.Headers[named(h.Value.Ref)]))
			}
		}
	}
	for _, path := range s.Paths {
		for _, r := range path.Value[0].Value.Responses {
			add(s.response(r.Value).Headers)
		}
	}
	return list
}

// failures returns the errors of all operations, in order of status.
func (s *spec) failures() (list []failure) {
	status := map[string]string{}
	for _, path := range s.Paths {
		for _, r := range path.Value[0].Value.Responses {
			status[named(r.Value.Ref)] = r.Key
		}
	}
	for _, r := range s.Components.Responses {
		list = append(list, s.failure(status[r.Key], r.Value))
	}
	return list
}

func (s *spec) failure(status string, r response) failure {
	example := r.Content[0].Value.Examples[0]
	return failure{Code: example.Key, Status: status, Example: indented(example.Value.Value), Text: inline(r.Description)}
}

func (s *spec) response(r response) response {
	for _, component := range s.Components.Responses {
		if r.Ref != "" && component.Key == named(r.Ref) {
			return component.Value
		}
	}
	return r
}

func exampleOf(p parameter) string { return fmt.Sprint(p.Example) }
