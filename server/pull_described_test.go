package server

import (
	"bytes"
	"net/http"
	"testing"

	"teamdata/wire/openapi"
)

func TestPullIsDescribed(t *testing.T) {
	env := newTestEnv(t, Config{})
	for path, want := range map[string]struct {
		body []byte
		kind string
	}{
		"/pull/openapi.json": {openapi.Pull.JSON, "application/json"}, "/pull/openapi.yaml": {openapi.Pull.YAML, "application/yaml"},
	} {
		answer := env.do(newRequest("GET", path, ""))
		if answer.Code != http.StatusOK || !bytes.Equal(answer.Body.Bytes(), want.body) || header(answer, "Content-Type")[0] != want.kind {
			t.Errorf("%s: got %d %v", path, answer.Code, answer.Header())
		}
		tag := header(answer, "ETag")[0]
		if again := env.do(newRequest("GET", path, "", "If-None-Match", tag)); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
			t.Errorf("%s: a client that has it gets %d and %d bytes", path, again.Code, again.Body.Len())
		}
	}
	if openapi.Pull.Version != published[0].date || !bytes.Contains(openapi.Pull.YAML, []byte("\n  version: \""+published[0].date+"\"\n")) {
		t.Errorf("pull.yaml is not of the version %s", published[0].date)
	}
}
