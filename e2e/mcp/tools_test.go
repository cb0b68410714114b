package mcp_test

import (
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"teamdata/wire/web"
)

// The org's instructions greet the assistant, in the protocol's current form and in the
// older one, unless the key may not read them.
func TestAssistantIsInstructed(t *testing.T) {
	a := newAssistants(t)
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
	a := newAssistants(t)
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
	a := newAssistants(t)
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
		answer := a.do(method, path, test.key, web.RequestIDHeader, "same")
		if want := answer.Body.String(); text != want || isError != (answer.Code >= 400) {
			t.Errorf("%s: %s with %v answered %s (an error: %t), and %s %d %s", test.key, test.tool, test.arguments, text, isError, test.request, answer.Code, want)
		}
	}
}

// What can be wrong only in a call of a tool is answered as the API answers errors.
func TestToolArguments(t *testing.T) {
	session := newAssistants(t).session("key_both")
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
	a := newAssistants(t)
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
	a := newAssistants(t)
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
	overHTTP := a.do("POST", "/api/v1/webhooks/whe_open/test", "key_both", "Idempotency-Key", "a")
	if again := send("a"); again != first || overHTTP.Body.String() != first || other == first {
		t.Errorf("a: %s, then %s, over HTTP %s; b: %s", first, again, overHTTP.Body, other)
	}
	text, isError := call(t, session, "testWebhook", map[string]any{"id": "whe_closed", "idempotencyKey": "a"})
	if !isError || !strings.Contains(text, "idempotencyMismatch") {
		t.Errorf("the same key for another endpoint: %s", text)
	}
}
