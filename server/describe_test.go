package server

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"teamdata/store"
	"teamdata/wire/openapi"
)

const describedJSON, describedYAML = "/api/v1/openapi.json", "/api/v1/openapi.yaml"

// The description is answered without a key, in the version that is pinned.
func TestDescription(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions, KeyRate: 1})
	for _, pinned := range []string{"", "2026-10-06", "2025-01-01", "2024-01-01"} {
		version := threeVersions[0].date
		r := newRequest("GET", describedJSON, "")
		if pinned != "" {
			version = pinned
			r.Header.Set("API-Version", pinned)
		}
		answer := env.do(r)
		want, _ := knownDocument(version)
		if answer.Code != http.StatusOK || !bytes.Equal(answer.Body.Bytes(), want.JSON) {
			t.Errorf("%q: got %d %.200s", pinned, answer.Code, answer.Body)
		}
		for name, value := range map[string]string{
			"API-Version": version, "Content-Type": "application/json", "Cache-Control": "public, max-age=300", "Vary": "API-Version",
			"X-Content-Type-Options": "nosniff", "Content-Length": fmt.Sprint(len(want.JSON)),
		} {
			if got := header(answer, name); len(got) != 1 || got[0] != value {
				t.Errorf("%q: %s is %q, want %q", pinned, name, got, value)
			}
		}
		if deprecated := header(answer, "Deprecation") != nil; deprecated != (version != threeVersions[0].date) || header(answer, "RateLimit") != nil {
			t.Errorf("%q: %v", pinned, answer.Header())
		}
	}
	wantError(t, env.do(newRequest("GET", describedJSON, "", "API-Version", "2020-01-01")), store.CodeBadRequest)
	wantError(t, env.do(newRequest("POST", describedJSON, "")), store.CodeMethodNotAllowed)
	wantError(t, env.do(newRequest("GET", describedJSON+"/", "")), store.CodeNotFound)
}

func TestDescriptionInYAML(t *testing.T) {
	env := newTestEnv(t, Config{})
	document, _ := openapi.Of("2026-10-06")
	answer := env.do(newRequest("GET", describedYAML, ""))
	if answer.Code != http.StatusOK || answer.Header()["Content-Type"][0] != "application/yaml" || !bytes.Equal(answer.Body.Bytes(), document.YAML) {
		t.Errorf("got %d %v", answer.Code, answer.Header())
	}
}

// Who has the description already is told so in a few bytes.
func TestDescriptionIsCached(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions})
	first := header(env.do(newRequest("GET", describedJSON, "")), "ETag")[0]
	for _, row := range []struct {
		tags    []string
		version string
		want    int
	}{
		{[]string{first}, "", http.StatusNotModified},
		{[]string{`"x", W/` + first}, "", http.StatusNotModified},
		{[]string{`"x"`, first}, "", http.StatusNotModified},
		{[]string{"*"}, "", http.StatusNotModified},
		{[]string{first}, "2025-01-01", http.StatusOK},
		{[]string{`"x"`}, "", http.StatusOK},
		{[]string{""}, "", http.StatusOK},
	} {
		for _, method := range []string{"GET", "HEAD"} {
			r := newRequest(method, describedJSON, "")
			if row.version != "" {
				r.Header.Set("API-Version", row.version)
			}
			r.Header["If-None-Match"] = row.tags
			answer := env.do(r)
			if answer.Code != row.want || (answer.Code == http.StatusNotModified) != (answer.Body.Len() == 0) {
				t.Errorf("%s with %q: %d, %d bytes", method, row.tags, answer.Code, answer.Body.Len())
			}
			if len(header(answer, "ETag")) != 1 || len(header(answer, "API-Version")) != 1 || len(header(answer, "X-Request-Id")) != 1 {
				t.Errorf("%s with %q: %v", method, row.tags, answer.Header())
			}
		}
	}
}

// It counts for the limit of the client, and a server that stops says so.
func TestDescriptionIsLimited(t *testing.T) {
	env := newTestEnv(t, Config{ClientRate: 1})
	env.do(newRequest("GET", describedJSON, ""))
	wantError(t, env.do(newRequest("GET", describedYAML, "")), store.CodeRateLimited)
	env.server.stopping.Store(true)
	wantError(t, env.do(newRequest("GET", describedYAML, "")), store.CodeUnavailable)
}
