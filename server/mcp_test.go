package server

import (
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"testing"

	"teamdata/store"
)

// Each message counts as one request with the key, whatever it says.
func TestMessagesCount(t *testing.T) {
	const limit = 7
	for name, body := range map[string]string{
		"a tool":         `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listMembers"}}`,
		"no such tool":   `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}`,
		"an argument":    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listMembers","arguments":{"limit":0}}}`,
		"the tools":      `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		"a notification": `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		"no method":      `{"jsonrpc":"2.0","id":1,"method":"none"}`,
		"no JSON":        `{`,
		"too large":      strings.Repeat(" ", maxBody+1),
	} {
		env := newTestEnv(t, Config{KeyRate: limit})
		for range limit - 1 {
			env.do(messageRequest("key_read", body))
		}
		if answer := env.do(newRequest("GET", "/api/v1/members", "key_read")); answer.Code != http.StatusOK {
			t.Errorf("%s: request %d is answered with %d", name, limit, answer.Code)
		}
		wantError(t, env.do(newRequest("GET", "/api/v1/members", "key_read")), store.CodeRateLimited)
		if answer := env.do(messageRequest("key_read", body)); !strings.Contains(answer.Body.String(), "rateLimited") || answer.Header()["Retry-After"] == nil {
			t.Errorf("%s beyond the limit: %d %s", name, answer.Code, answer.Body)
		}
	}
}

func messageRequest(key, body string, header ...string) *http.Request {
	r := newRequest("POST", mcpRoute.path, key, header...)
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(body)), int64(len(body))
	return r
}

// A notification is accepted, without a body.
func TestNotification(t *testing.T) {
	env := newTestEnv(t, Config{})
	answer := env.do(messageRequest("key_read", `{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	if answer.Code != http.StatusAccepted || answer.Body.Len() != 0 {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

// A page in a browser may send messages only if it is certainly of this server.
func TestOrigin(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, test := range []struct {
		address, host, origin string
		secure                bool
		want                  int
	}{
		{"", "data.example", "https://data.example", true, 200},
		{"", "data.example", "https://evil.example", true, 403},
		{"", "data.example", "http://data.example", true, 403},
		{"", "data.example", "null", true, 403},
		{"", "evil.example", "http://evil.example", false, 403}, // its name was made to lead here
		{"", "localhost:8443", "http://localhost:8443", false, 200},
		{"", "127.0.0.1:8443", "http://127.0.0.1:8443", false, 200},
		{"", "[::1]:8443", "http://[::1]:8443", false, 200},
		{"", "127.0.0.1:8443", "http://127.0.0.1:9000", false, 403},
		{"https://data.example", "evil.example", "https://evil.example", true, 403},
		{"https://data.example", "127.0.0.1", "https://data.example", false, 200},
	} {
		env := newTestEnv(t, Config{Address: test.address})
		r := messageRequest("key_read", ping, "Origin", test.origin)
		if r.Host = test.host; test.secure {
			r.TLS = &tls.ConnectionState{}
		}
		if answer := env.do(r); answer.Code != test.want {
			t.Errorf("%+v: %d %s", test, answer.Code, answer.Body)
		}
	}
}

// The access log tells which tool was called, and nothing of what it was called with.
func TestToolIsLogged(t *testing.T) {
	env := newTestEnv(t, Config{})
	env.server.Observe(Observer{AccessLog: LogAll})
	env.do(messageRequest("key_both", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"testWebhook","arguments":{"id":"whe_open","idempotencyKey":"PLANTED"}}}`))
	env.do(messageRequest("key_both", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"PLANTED"}}`))
	for i, want := range []any{"testWebhook", nil} {
		l := env.lines()[i]
		if l["tool"] != want || l["method"] != "POST" || l["route"] != "/mcp" || l["status"] != 200.0 {
			t.Errorf("line %d is %v", i, l)
		}
	}
	if log := env.LogOutput.String(); strings.Contains(log, "PLANTED") || strings.Contains(log, fixtureSecret) {
		t.Errorf("the log holds a secret:\n%s", log)
	}
}

// Pinning a version of the API holds for what tools are described as and answer.
func TestToolsOfAnOlderVersion(t *testing.T) {
	env := newTestEnv(t, Config{versions: threeVersions})
	for version, field := range map[string]string{"2026-10-06": "userId", "2025-01-01": "user"} {
		listed := env.do(messageRequest("key_read", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, "API-Version", version))
		called := env.do(messageRequest("key_read", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"listMembers"}}`, "API-Version", version))
		for _, body := range []string{listed.Body.String(), called.Body.String()} {
			if !strings.Contains(body, `"`+field+`":`) {
				t.Errorf("%s: no %s in %s", version, field, body)
			}
		}
	}
}

// Who reads the API's reference learns where assistants connect.
func TestAssistantsAreDescribed(t *testing.T) {
	env := newTestEnv(t, Config{})
	for _, path := range []string{"/docs", "/llms.txt", "/api/v1/openapi.json", "/api/v1/openapi.yaml"} {
		answer := env.do(newRequest("GET", path, ""))
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), mcpRoute.path) {
			t.Errorf("%s is answered with %d, and does not name %s", path, answer.Code, mcpRoute.path)
		}
	}
}
