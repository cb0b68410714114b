package teamdata_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	teamdata "teamdata/client"
	"teamdata/client/admin"
)

// Each operation of the descriptions is a method of the same name, which makes its
// request. A client has no other methods but those of its transport.
func TestOperations(t *testing.T) {
	requests := &recorder{}
	config := teamdata.Config{BaseURL: "https://data.example.com", Key: "opr_1.secret", HTTP: &http.Client{Transport: requests}, Retries: -1}
	for files, client := range map[string]any{"openapi.json pull.json": teamdata.New(config), "admin.json": admin.New(config)} {
		found := map[string]request{}
		for file := range strings.FieldsSeq(files) {
			maps.Copy(found, operations(t, "../wire/openapi/"+file))
		}
		if len(found) < 8 {
			t.Fatalf("%s have %d operations", files, len(found))
		}
		for name, want := range found {
			method := reflect.ValueOf(client).MethodByName(strings.ToUpper(name[:1]) + name[1:])
			if !method.IsValid() {
				t.Errorf("%T has no method for %s: %v", client, name, want)
				continue
			}
			requests.last = request{}
			callWithSamples(t, method)
			requests.last.body = requests.last.body && want.body // one that is not required may be sent, too
			if requests.last != want {
				t.Errorf("%s of %T requests %v, and not %v", name, client, requests.last, want)
			}
		}
		for method := range methods(client) {
			name := strings.ToLower(method[:1]) + method[1:]
			if _, ok := found[name]; !ok && !slices.Contains([]string{"Consume", "Open"}, method) {
				t.Errorf("%T has the method %s, and its API has no such operation", client, method)
			}
		}
	}
}

// The client pins the version that its types were generated for.
func TestVersion(t *testing.T) {
	var document struct{ Info struct{ Version string } }
	readJSON(t, "../wire/openapi/openapi.json", &document)
	if teamdata.Version != document.Info.Version {
		t.Errorf("the client is of %s, and the API of %s", teamdata.Version, document.Info.Version)
	}
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

type request struct {
	method, path string // with ids in the order of the path: p0, p1
	body         bool
}

var parameter = regexp.MustCompile(`\{\w+\}`)

func operations(t *testing.T, file string) map[string]request {
	t.Helper()
	var document struct {
		Servers []struct{ URL string }
		Paths   map[string]map[string]json.RawMessage
	}
	readJSON(t, file, &document)
	found := map[string]request{}
	for path, item := range document.Paths {
		ids := "p0 p1 p2"
		path = document.Servers[0].URL + parameter.ReplaceAllStringFunc(path, func(string) (id string) {
			id, ids, _ = strings.Cut(ids, " ")
			return id
		})
		for method, text := range item {
			var operation struct {
				OperationID string
				RequestBody *struct{ Required bool }
			}
			if method == "parameters" || json.Unmarshal(text, &operation) != nil {
				continue
			}
			found[operation.OperationID] = request{strings.ToUpper(method), path, operation.RequestBody != nil && operation.RequestBody.Required}
		}
	}
	return found
}

func methods(client any) iter.Seq[string] {
	found := map[string]bool{}
	for method := range reflect.TypeOf(client).Methods() {
		found[method.Name] = true
	}
	return maps.Keys(found)
}

// callWithSamples calls a method with p0, p1 and so on for texts, and reads a list.
func callWithSamples(t *testing.T, method reflect.Value) {
	t.Helper()
	var args []reflect.Value
	for i, texts := 0, 0; i < method.Type().NumIn(); i++ {
		switch in := method.Type().In(i); {
		case in == reflect.TypeFor[context.Context]():
			args = append(args, reflect.ValueOf(t.Context()))
		case in == reflect.TypeFor[io.Writer]():
			args = append(args, reflect.ValueOf(io.Discard))
		case in == reflect.TypeFor[string]():
			args = append(args, reflect.ValueOf([]string{"p0", "p1", "p2"}[texts]))
			texts++
		case i == method.Type().NumIn()-1 && method.Type().IsVariadic():
		default:
			args = append(args, reflect.Zero(in))
		}
	}
	if answer := method.Call(args)[0].MethodByName("Pages"); answer.IsValid() {
		for range answer.Call([]reflect.Value{reflect.ValueOf(t.Context())})[0].Seq2() {
		}
	}
}

// recorder answers each request with an empty object.
type recorder struct{ last request }

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(q.Body)
	r.last = request{q.Method, q.URL.Path, len(body) > 0}
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: q}, err
}

// A filter with a time that can't be told is refused by the server, and not left out.
func TestFilterIsNeverLeftOut(t *testing.T) {
	requests := &queries{}
	c := admin.New(teamdata.Config{BaseURL: "https://data.example.com", Key: "opr_1.secret", HTTP: &http.Client{Transport: requests}, Retries: -1})
	state, late := "failed", time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
	for range c.ListDeliveries("org_acme", admin.DeliveryFilter{State: &state, Until: &late}).All(t.Context()) {
	}
	if since := requests.last.Get("since"); since == "" {
		t.Errorf("the list was asked for with %v", requests.last)
	}
	for range c.ListDeliveries("org_acme", admin.DeliveryFilter{State: &state}).All(t.Context()) {
	}
	if got := requests.last.Get("state"); got != state {
		t.Errorf("the state is %q", got)
	}
}

// queries keeps the parameters of the last request.
type queries struct{ last url.Values }

func (r *queries) RoundTrip(q *http.Request) (*http.Response, error) {
	r.last = q.URL.Query()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader("{}")), Request: q}, nil
}
