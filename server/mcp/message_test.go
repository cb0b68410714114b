package mcp

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"teamdata/store"
)

var server = Server{Name: "name", Title: "title", Version: "1"}

// FuzzRead holds that whatever a client sends has an answer, which is one message for
// the same id.
func FuzzRead(f *testing.F) {
	for _, seed := range []struct{ body, version, method, name string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "", "", ""},
		{`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"2025-06-18"}}`, "2025-06-18", "", ""},
		{`{"jsonrpc":"2.0","id":-1,"method":"tools/call","params":{"name":"a","arguments":{"b":[1]},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`, "2026-07-28", "tools/call", "=?base64?YQ==?="},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "2025-11-25", "", ""},
		{`{"jsonrpc":"2.0","id":null,"method":"ping","params":[]}`, "", "", ""},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", "\xff", "\xff", "\xff"},
		{`[]`, "2026-07-28", "x", "y"}, {`null`, "", "", ""}, {``, "", "", ""},
	} {
		f.Add(seed.body, seed.version, seed.method, seed.name)
	}
	f.Fuzz(func(t *testing.T, body, version, method, name string) {
		h := http.Header{}
		for key, value := range map[string]string{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name} {
			if value != "" {
				h.Set(key, value)
			}
		}
		m, refusal := server.Read([]byte(body), h)
		if refusal != nil {
			isAnswer(t, m, *refusal, "error")
			return
		}
		for _, a := range []store.Answer{
			m.Pong(), m.Introduction("text"), m.Introduction(""), m.Tools([][]byte{[]byte(`{}`), []byte(`{}`)}), m.Tools(nil),
			m.ToolResult(store.Answer{Status: 200, Body: []byte(`{"a":"\""}`)}), m.ToolResult(store.Answer{Status: 409, Body: []byte(`{}`)}),
		} {
			isAnswer(t, m, a, "result")
		}
		isAnswer(t, m, m.ToolResult(store.Answer{Status: 503, Body: []byte(`{}`)}), "error")
		isAnswer(t, m, m.UnknownTool(), "error")
	})
}

// isAnswer checks that an answer is one message, with the field that says what it is.
func isAnswer(t *testing.T, m *Message, a store.Answer, field string) {
	t.Helper()
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(a.Body, &fields); err != nil || !utf8.Valid(a.Body) {
		t.Fatalf("%v in %q", err, a.Body)
	}
	if string(fields["jsonrpc"]) != `"2.0"` || fields[field] == nil || string(fields["id"]) != string(m.id) {
		t.Errorf("the answer for %s is %s", m.id, a.Body)
	}
	if (a.Status >= 400) && field == "result" {
		t.Errorf("a result with the status %d", a.Status)
	}
}

// Names are exact, so that a proxy and this server read the same.
func TestNamesAreExact(t *testing.T) {
	for body, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/list"}`: "ping",
		`{"jsonrpc":"2.0","id":1,"METHOD":"ping"}`:                       "",
	} {
		if m, _ := server.Read([]byte(body), http.Header{}); m.Method != want {
			t.Errorf("%s: %q", body, m.Method)
		}
	}
}

// What an answer repeats of a message is JSON in UTF-8, as the answer is. A whole number
// is one however it is written.
func TestIDs(t *testing.T) {
	for id, ok := range map[string]bool{
		`"a"`: true, `""`: true, `7`: true, `-7`: true, `2.0`: true, `2e3`: true, `99999999999999999999`: true,
		`2.5`: false, `1e-1`: false, `null`: false, `true`: false, `[]`: false, `{}`: false, "\"\xff\"": false, "\"\xed\xa0\x80\"": false,
	} {
		m, refusal := server.Read([]byte(`{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`), http.Header{})
		switch {
		case (refusal == nil) != ok:
			t.Errorf("%q: %+v", id, refusal)
		case ok:
			isAnswer(t, m, m.Pong(), "result")
		case refusal.Status != http.StatusBadRequest:
			t.Errorf("%q: %d %s", id, refusal.Status, refusal.Body)
		default:
			isAnswer(t, m, *refusal, "error")
		}
	}
}

// What initialize negotiates is what its message asks for. The header says what was
// negotiated before, so it counts for other messages only.
func TestHeaderOfInitialize(t *testing.T) {
	const ask = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	for _, header := range [][]string{nil, {"2025-06-18"}, {"2025-11-25"}, {"2026-07-28"}, {"2024-11-05"}, {"latest"}, {"2025-06-18", "2025-11-25"}} {
		m, refusal := server.Read([]byte(ask), http.Header{"Mcp-Protocol-Version": header})
		if refusal != nil {
			t.Errorf("%q: %d %s", header, refusal.Status, refusal.Body)
		} else if body := string(m.Introduction("").Body); !strings.Contains(body, `"protocolVersion":"2025-06-18"`) || strings.Contains(body, "resultType") {
			t.Errorf("%q: %s", header, body)
		}
	}
	other := []byte(strings.Replace(ask, "initialize", "tools/list", 1))
	for _, header := range []string{"2026-07-28", "2024-11-05"} {
		if _, refusal := server.Read(other, http.Header{"Mcp-Protocol-Version": {header}}); refusal == nil {
			t.Errorf("%s does not count for other messages", header)
		}
	}
}

// Null counts as left out.
func TestNullParameters(t *testing.T) {
	for method, ok := range map[string]bool{
		`"tools/list","params":{"cursor":null}`:                      true,
		`"tools/list","params":{"cursor":"a"}`:                       false,
		`"tools/list","params":null`:                                 true,
		`"tools/list","params":{"_meta":null}`:                       true,
		`"tools/call","params":{"name":"a","arguments":null}`:        true,
		`"initialize","params":{"protocolVersion":null}`:             false,
		`"initialize","params":{"protocolVersion":["2025-06-18"]}`:   false,
		`"initialize","params":{"protocolVersion":"1","_meta":null}`: true,
		`null`: false,
	} {
		if _, refusal := server.Read([]byte(`{"jsonrpc":"2.0","id":1,"method":`+method+`}`), http.Header{}); (refusal == nil) != ok {
			t.Errorf("%s: %+v", method, refusal)
		}
	}
}

// Each header that repeats a part of the message has to say the same.
func TestHeadersAgree(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a",` + meta + `}}`
	headers := func(version, method, name []string) http.Header {
		return http.Header{"Mcp-Protocol-Version": version, "Mcp-Method": method, "Mcp-Name": name}
	}
	version, method := []string{"2026-07-28"}, []string{"tools/call"}
	for _, test := range []struct {
		h  http.Header
		ok bool
	}{
		{headers(version, method, []string{"a"}), true},
		{headers(version, method, []string{"=?base64?YQ==?="}), true},
		{headers(version, method, []string{"=?base64?YQ?="}), false},
		{headers(version, method, []string{"=?base64?YQ=="}), false},
		{headers(version, method, []string{"A"}), false},
		{headers(version, method, []string{"a", "a"}), false},
		{headers(version, method, nil), false},
		{headers(version, []string{"TOOLS/CALL"}, []string{"a"}), false},
		{headers(version, nil, []string{"a"}), false},
		{headers([]string{"2025-11-25"}, method, []string{"a"}), false},
		{headers(nil, method, []string{"a"}), false},
	} {
		if _, refusal := server.Read([]byte(call), test.h); (refusal == nil) != test.ok {
			t.Errorf("%v: %+v", test.h, refusal)
		} else if refusal != nil && refusal.Status != http.StatusBadRequest {
			t.Errorf("%v: %d %s", test.h, refusal.Status, refusal.Body)
		}
	}
}
