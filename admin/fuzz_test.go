package admin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"
)

// FuzzHandler holds any request to: no fault of the server, neither answered nor
// logged, and a JSON answer.
func FuzzHandler(f *testing.F) {
	env := newTestEnv(f)
	env.admin.config.Log = env.admin.config.Log.Level(zerolog.ErrorLevel) // changes would fill it
	for _, o := range operations {
		o = o.in(env)
		f.Add(o.method, o.path, o.body, "", "")
	}
	f.Add("GET", "/orgs?limit=1&after=0.\x00", "", "*", "usr_ada")
	f.Add("POST", "/orgs/org_acme/events", `{"type":"invoice.paid","data":{"amount":1e99}}`, `"x"`, "é")
	handler := env.admin.Local()
	f.Fuzz(func(t *testing.T, method, path, body, ifMatch, actor string) {
		r, err := http.NewRequest(method, "http://teamdata"+basePath+path, strings.NewReader(body))
		if err != nil || strings.HasPrefix(r.URL.Path, basePath+"/backup") {
			t.Skip()
		}
		r.Header["If-Match"], r.Header["Teamdata-Actor"] = []string{ifMatch}, []string{actor}
		if ifMatch == "" {
			delete(r.Header, "If-Match")
		}
		if actor == "" {
			delete(r.Header, "Teamdata-Actor")
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, r)
		if answer.Code >= 500 || answer.Code != 204 && !json.Valid(answer.Body.Bytes()) {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
		equal(t, "log", env.LogOutput.String(), "")
	})
}

// FuzzIfMatch holds the header's parser to: what it takes is made of the text's
// tags, without their quotes.
func FuzzIfMatch(f *testing.F) {
	for _, text := range []string{"*", `"a"`, `"a", W/"b"`, `,"a",,`, `"a`, "", `W/`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		versions, err := ifMatch(http.Header{"If-Match": {text}})
		if err != nil {
			return
		}
		for _, version := range versions {
			if !strings.Contains(text, version+`"`) || strings.HasSuffix(version, `"`) {
				t.Errorf("%q gave %q", text, versions)
			}
		}
	})
}
