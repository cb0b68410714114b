package admin

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/store"
	"teamdata/wire/eventtype"
	"teamdata/wire/openapi"
)

var described = sync.OnceValue(func() *contract.Contract {
	c, err := contract.Read(openapi.Admin.JSON)
	if err != nil {
		panic(err)
	}
	return c
})

// watched holds, in a test, each exchange to the description.
func (env *testEnv) watched(h http.Handler) http.Handler {
	if _, measured := env.TB.(*testing.B); measured {
		return h
	}
	return contract.Watch(env.TB, h, func(x contract.Exchange) []string {
		if slices.ContainsFunc(openRoutes, func(rt route) bool { return x.URL.Path == basePath+rt.path }) {
			return nil
		}
		return described().Faults(x)
	})
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// The description's operations are the routes, each named as its handler, and the codes
// that it shows are those that this API answers.
func TestDescriptionIsWhole(t *testing.T) {
	var operations, routed []string
	for path := range described().At("paths") {
		for method := range described().At("paths", path) {
			if id, ok := described().At("paths", path, method)["operationId"].(string); ok { // other keys are parameters
				operations = append(operations, strings.ToUpper(method)+" "+pathParam.ReplaceAllString(path, ":$1")+"."+id)
			}
		}
	}
	for _, rt := range slices.Concat(routes, testRoutes) {
		handler := runtime.FuncForPC(reflect.ValueOf(rt.handle).Pointer()).Name()
		routed = append(routed, rt.method+" "+rt.path+handler[strings.LastIndexByte(handler, '.'):])
	}
	slices.Sort(operations)
	slices.Sort(routed)
	equal(t, "the operations", strings.Join(operations, "\n"), strings.Join(routed, "\n"))
	for _, info := range store.Codes {
		shown := strings.Contains(string(openapi.Admin.JSON), `"code": "`+string(info.Code)+`"`)
		if shown != (info.Code != store.CodeUpgradeRequired && info.Code != store.CodeForbidden) {
			t.Errorf("admin.yaml and the code %s: shown %t", info.Code, shown)
		}
	}
}

// The description and the reference page need no token, and a client that has them
// gets a 304.
func TestDescriptionIsAnswered(t *testing.T) {
	env := newTestEnv(t)
	remote := env.remote()
	for path, want := range map[string]string{"/openapi.json": string(openapi.Admin.JSON), "/openapi.yaml": string(openapi.Admin.YAML), "/docs": "", "/docs/style.css": "", "/docs/inter.woff2": ""} {
		for _, do := range []func(method, path, body string, header ...string) kit.Answer{env.do, remote} {
			got := do("GET", path, "")
			equal(t, path+": the status", got.Status, http.StatusOK)
			if want != "" {
				equal(t, path+": the body", got.Body, want)
			}
			again := do("GET", path, "", "If-None-Match", got.Header.Get("ETag"))
			equal(t, path+": the status for one who has it", again.Status, http.StatusNotModified)
			env.wantError(do("POST", path, ""), store.CodeMethodNotAllowed, "This route takes GET, HEAD only.")
		}
	}
}

// The schemas that events are held to here, and those that receivers are told of,
// ask for the same fields.
func TestEventTypesAreDescribed(t *testing.T) {
	document, _ := openapi.Of("2026-10-06")
	doc, err := contract.Read(document.JSON)
	kit.Must(t, err)
	for _, name := range store.BuiltInEventTypes {
		kind := eventtype.BuiltIn(name)
		type fields struct {
			Required   []string
			Properties map[string]struct{ Type any }
		}
		var here, told fields
		data, err := json.Marshal(doc.At("webhooks", name, "post", "requestBody", "content", "application/json", "schema", "properties", "data"))
		kit.Must(t, err)
		kit.Must(t, errors.Join(json.Unmarshal(kind.Schema, &here), json.Unmarshal(data, &told)))
		slices.Sort(here.Required)
		slices.Sort(told.Required)
		equal(t, "the fields of "+name, strings.Join(here.Required, " "), strings.Join(told.Required, " "))
		for field, property := range here.Properties {
			if is, ok := told.Properties[field]; !ok || fmt.Sprint(is.Type) != fmt.Sprint(property.Type) {
				t.Errorf("%s: %s is %v in wire/openapi/openapi.yaml and %v in wire/eventtype/builtin.json", name, field, is.Type, property.Type)
			}
		}
	}
}
