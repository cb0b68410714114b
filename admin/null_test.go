package admin

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// made are the parts of an answer that each server makes anew.
var made = regexp.MustCompile(`[a-z]{3}_[0-9A-Z]{26}(\.[\w-]+)?|whsec_[\w+/=]+`)

// Null counts as left out: what has to be there is missing then, and nothing else
// changes. Of what an operation says that null clears, nothing is set here.
func TestNullIsLeftOut(t *testing.T) {
	each(t, func(o operation) bool { return bodyOf(o) > 0 }, func(env *testEnv, o operation) {
		schema := described().At("paths", describedPath(o), strings.ToLower(o.method), "requestBody", "content", "application/json", "schema")
		properties, _ := schema["properties"].(map[string]any)
		if len(properties) == 0 {
			return
		}
		required, _ := schema["required"].([]any)
		leftOut, null := fieldsOf(env, o), fieldsOf(env, o)
		for name := range properties {
			if !slices.Contains(required, any(name)) {
				delete(leftOut, name)
				null[name] = json.RawMessage("null")
			}
		}
		for _, name := range required {
			if name == "instructions" {
				continue // null is their value
			}
			fields := fieldsOf(env, o)
			fields[name.(string)] = json.RawMessage("null")
			got := env.do(o.method, o.path, body(env, fields))
			env.wantError(got, store.CodeBadRequest, name.(string)+": ")
			delete(fields, name.(string))
			equal(env, o.String()+" without "+name.(string), got.Body, env.do(o.method, o.path, body(env, fields)).Body)
		}
		other := newTestEnv(t)
		want, got := env.do(o.method, o.path, body(env, leftOut)), other.do(o.method, o.in(other).path, body(env, null))
		equal(env, o.String()+" with "+body(env, null), got.Status, want.Status)
		equal(env, o.String()+" with "+body(env, null), made.ReplaceAllString(got.Body, ""), made.ReplaceAllString(want.Body, ""))
	})
}

// describedPath is the path of an operation as the description has it.
func describedPath(o operation) string {
	i := slices.IndexFunc(routes, func(rt route) bool { return rt.method == o.method && matchesRoute(o.path, rt.path) })
	return regexp.MustCompile(`:(\w+)`).ReplaceAllString(routes[i].path, "{$1}")
}

func fieldsOf(env *testEnv, o operation) map[string]json.RawMessage {
	fields := map[string]json.RawMessage{}
	if o.body != "" {
		kit.Must(env, json.Unmarshal([]byte(o.body), &fields))
	}
	return fields
}

func body(env *testEnv, fields map[string]json.RawMessage) string {
	text, err := json.Marshal(fields)
	kit.Must(env, err)
	return string(text)
}
