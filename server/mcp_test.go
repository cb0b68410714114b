package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"teamdata/internal/localca"
	"teamdata/internal/web"
	"teamdata/store"
)

// assistants is the official SDK's client, and a server that it reaches over TLS.
type assistants struct {
	*testEnv
	url   string
	roots *x509.CertPool
}

func newAssistants(t *testing.T, c Config) *assistants {
	t.Helper()
	env := newTestEnv(t, c)
	config, ca, err := LocalTLS(t.Context(), env.Store, localca.LocalHosts(""), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- env.server.Serve(l, config) }()
	t.Cleanup(func() {
		env.server.http.Close()
		if err := <-ended; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &assistants{env, "https://" + l.Addr().String() + mcpRoute.path, roots}
}

// keyed adds a key of the fixture to each request, and the same id.
type keyed struct {
	http.RoundTripper
	key   string
	older bool // as if the client did not know server/discover
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	if k.older && bytes.Contains(body, []byte(`"server/discover"`)) {
		return nil, fmt.Errorf("an older client sends no server/discover")
	}
	r = r.Clone(r.Context())
	r.Body = io.NopCloser(bytes.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+k.key+"."+fixtureSecret)
	r.Header.Set(web.RequestIDHeader, "same")
	return k.RoundTripper.RoundTrip(r)
}

// connect connects a client with a key.
func (a *assistants) connect(key string, older bool) (*sdk.ClientSession, error) {
	a.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: a.roots}, ForceAttemptHTTP2: true}
	a.Cleanup(transport.CloseIdleConnections)
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(a.Context(), &sdk.StreamableClientTransport{
		Endpoint: a.url, HTTPClient: &http.Client{Transport: keyed{transport, key, older}}, MaxRetries: -1, DisableStandaloneSSE: true,
	}, nil)
	if err == nil {
		a.Cleanup(func() { session.Close() })
	}
	return session, err
}

// session is one that connect has to succeed with.
func (a *assistants) session(key string) *sdk.ClientSession {
	a.Helper()
	session, err := a.connect(key, false)
	if err != nil {
		a.Fatal(err)
	}
	return session
}

// call calls a tool, and returns the text of its result.
func call(t testing.TB, session *sdk.ClientSession, name string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	result, err := session.CallTool(context.Background(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	text = result.Content[0].(*sdk.TextContent).Text
	if !result.IsError && !sameJSON(t, text, result.StructuredContent) {
		t.Errorf("%s: the text is %s, and the structured content %v", name, text, result.StructuredContent)
	}
	return text, result.IsError
}

func sameJSON(t testing.TB, text string, value any) bool {
	t.Helper()
	var decoded any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(decoded) == fmt.Sprint(value)
}

func names(t testing.TB, session *sdk.ClientSession) (names []string) {
	t.Helper()
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, tool.Name)
	}
	return names
}

// The org's instructions greet the assistant, in the protocol's current form and in the
// older one, unless the key may not read them.
func TestAssistantIsInstructed(t *testing.T) {
	a := newAssistants(t, Config{})
	for _, test := range []struct {
		key   string
		older bool
		want  string
	}{{"key_read", false, "Be brief."}, {"key_read", true, "Be brief."}, {"key_write", false, ""}, {"key_write", true, ""}, {"key_team", false, ""}} {
		session, err := a.connect(test.key, test.older)
		if err != nil {
			t.Fatal(err)
		}
		got := session.InitializeResult()
		version := map[bool]string{false: "2026-07-28", true: "2025-11-25"}[test.older]
		if got.Instructions != test.want || got.ProtocolVersion != version || got.ServerInfo.Name != "teamdata" {
			t.Errorf("%s, older %t: %+v", test.key, test.older, got)
		}
		if len(names(t, session)) == 0 {
			t.Errorf("%s, older %t: there are no tools", test.key, test.older)
		}
	}
	if session, err := a.connect("key_expired", false); err == nil {
		t.Errorf("an expired key was greeted: %+v", session.InitializeResult())
	}
}

// An assistant is offered what its key and its org's plan allow.
func TestToolsOfAKey(t *testing.T) {
	a := newAssistants(t, Config{})
	for key, want := range map[string]string{
		"key_both":    "[listMembers listAuditLog testWebhook getAssistantInstructions]",
		"key_read":    "[listMembers listAuditLog getAssistantInstructions]",
		"key_write":   "[testWebhook]",
		"key_team":    "[listMembers testWebhook getAssistantInstructions]", // no audit log
		"key_readers": "[listMembers listAuditLog getAssistantInstructions]",
	} {
		if got := fmt.Sprint(names(t, a.session(key))); got != want {
			t.Errorf("%s has %s, want %s", key, got, want)
		}
	}
}

// A tool answers what its route answers, byte for byte, refusals included.
func TestToolIsItsRoute(t *testing.T) {
	a := newAssistants(t, Config{})
	for _, test := range []struct {
		key, tool string
		arguments map[string]any
		request   string
	}{
		{"key_read", "listMembers", nil, "GET /api/v1/members"},
		{"key_read", "listMembers", map[string]any{"limit": 2, "after": nil}, "GET /api/v1/members?limit=2"},
		{"key_read", "listMembers", map[string]any{"limit": "2"}, "GET /api/v1/members?limit=2"},
		{"key_read", "listMembers", map[string]any{"limit": 1, "after": "1767225600000.mem_1"}, "GET /api/v1/members?limit=1&after=1767225600000.mem_1"},
		{"key_read", "listMembers", map[string]any{"after": "1.a&limit=1"}, "GET /api/v1/members?after=1.a%26limit%3D1"},
		{"key_read", "listMembers", map[string]any{"limit": 0}, "GET /api/v1/members?limit=0"},
		{"key_read", "listMembers", map[string]any{"limit": true}, "GET /api/v1/members?limit=true"},
		{"key_read", "listMembers", map[string]any{"after": ""}, "GET /api/v1/members?after="},
		{"key_read", "listAuditLog", map[string]any{"limit": 2}, "GET /api/v1/audit-log?limit=2"},
		{"key_team", "listAuditLog", nil, "GET /api/v1/audit-log"},
		{"key_read", "getAssistantInstructions", nil, "GET /api/v1/assistant/instructions"},
		{"key_team", "getAssistantInstructions", nil, "GET /api/v1/assistant/instructions"},
		{"key_write", "listMembers", nil, "GET /api/v1/members"},
		{"key_read", "testWebhook", map[string]any{"id": "whe_open"}, "POST /api/v1/webhooks/whe_open/test"},
		{"key_both", "testWebhook", map[string]any{"id": "whe_none"}, "POST /api/v1/webhooks/whe_none/test"},
		{"key_both", "testWebhook", map[string]any{"id": "whe_closed"}, "POST /api/v1/webhooks/whe_closed/test"},
		{"key_both", "testWebhook", map[string]any{"id": "whe_theirs"}, "POST /api/v1/webhooks/whe_theirs/test"},
		{"key_readers", "testWebhook", map[string]any{"id": "whe_open"}, "POST /api/v1/webhooks/whe_open/test"},
	} {
		text, isError := call(t, a.session(test.key), test.tool, test.arguments)
		method, path, _ := strings.Cut(test.request, " ")
		answer := a.do(newRequest(method, path, test.key, web.RequestIDHeader, "same"))
		if want := answer.Body.String(); text != want || isError != (answer.Code >= 400) {
			t.Errorf("%s: %s with %v answered %s (an error: %t), and %s %d %s", test.key, test.tool, test.arguments, text, isError, test.request, answer.Code, want)
		}
	}
}

// What can be wrong only in a call of a tool is answered as the API answers errors.
func TestToolArguments(t *testing.T) {
	session := newAssistants(t, Config{}).session("key_both")
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"listMembers", map[string]any{"cursor": "a"}, `The tool listMembers has no argument \"cursor\". It takes limit, after.`},
		{"getAssistantInstructions", map[string]any{"limit": 1}, "The tool getAssistantInstructions takes no arguments."},
		{"listMembers", map[string]any{"limit": []int{1}}, "limit: must be a single value"},
		{"testWebhook", nil, "id: is missing"},
		{"testWebhook", map[string]any{"id": ""}, "id: is missing"},
		{"testWebhook", map[string]any{"id": "whe_open", "idempotencyKey": ""}, "Idempotency-Key: must be 1 to 255 printable ASCII characters"},
	} {
		want := `{"error":{"code":"badRequest","message":"` + test.want + `",`
		if text, isError := call(t, session, test.tool, test.arguments); !strings.HasPrefix(text, want) || !isError {
			t.Errorf("%s with %v: %s, want %s", test.tool, test.arguments, text, want)
		}
	}
	if _, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "none"}); err == nil || !strings.Contains(err.Error(), "there is no such tool") {
		t.Errorf("a tool that is none: %v", err)
	}
}

// A key of another org sees nothing of this one's.
func TestToolsOfAnotherOrg(t *testing.T) {
	a := newAssistants(t, Config{})
	session := a.session("key_team")
	var seen strings.Builder
	for _, tool := range []string{"listMembers", "listAuditLog", "getAssistantInstructions"} {
		text, _ := call(t, session, tool, nil)
		seen.WriteString(text)
	}
	for _, endpoint := range []string{"whe_open", "whe_closed"} {
		text, isError := call(t, session, "testWebhook", map[string]any{"id": endpoint})
		if seen.WriteString(text); !isError {
			t.Errorf("a test event went to %s: %s", endpoint, text)
		}
	}
	seen.WriteString(session.InitializeResult().Instructions)
	for _, theirs := range []string{"org_acme", "usr_ada", "mem_1", "aud_", "Be brief", "whd_", "whe_closed"} {
		if strings.Contains(seen.String(), theirs) {
			t.Errorf("%s is in %s", theirs, seen.String())
		}
	}
	if !strings.Contains(seen.String(), "usr_tom") {
		t.Errorf("its own member is not in %s", seen.String())
	}
}

// A test event that a tool sends is queued once for each idempotency key, also between
// the two ways to send it.
func TestToolSendsOnce(t *testing.T) {
	a := newAssistants(t, Config{})
	session := a.session("key_both")
	send := func(key string) string {
		t.Helper()
		text, isError := call(t, session, "testWebhook", map[string]any{"id": "whe_open", "idempotencyKey": key})
		if isError {
			t.Error(text)
		}
		return text
	}
	first, other := send("a"), send("b")
	overHTTP := a.do(newRequest("POST", testOpen, "key_both", "Idempotency-Key", "a"))
	if again := send("a"); again != first || overHTTP.Body.String() != first || other == first {
		t.Errorf("a: %s, then %s, over HTTP %s; b: %s", first, again, overHTTP.Body, other)
	}
	text, isError := call(t, session, "testWebhook", map[string]any{"id": "whe_closed", "idempotencyKey": "a"})
	if !isError || !strings.Contains(text, "idempotencyMismatch") {
		t.Errorf("the same key for another endpoint: %s", text)
	}
}

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
