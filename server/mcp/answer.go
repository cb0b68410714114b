package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"teamdata/store"
)

// The codes of JSON-RPC, and those of the protocol.
const (
	notJSON            = -32700
	notAMessage        = -32600
	methodNotFound     = -32601
	invalidParams      = -32602
	internal           = -32603
	headerMismatch     = -32020
	unsupportedVersion = -32022
)

// freshFor is how long a client may keep what it was told about the server and its
// tools, in milliseconds. Both depend on the key.
const freshFor = 60_000

// contentType of every answer.
const contentType = "application/json"

// refuse is the answer to a message that can't be executed.
func (m *Message) refuse(status, code int, format string, args ...any) *store.Answer {
	return m.fail(status, code, fmt.Sprintf(format, args...), nil)
}

// fail is refuse with data, which is JSON, or nil.
func (m *Message) fail(status, code int, message string, data []byte) *store.Answer {
	b := append(m.start(), `"error":{"code":`...)
	b = append(strconv.AppendInt(b, int64(code), 10), `,"message":`...)
	b = store.AppendJSONString(b, message)
	if data != nil {
		b = append(append(b, `,"data":`...), data...)
	}
	return &store.Answer{Status: status, ContentType: contentType, Body: append(b, "}}"...)}
}

// start is the start of an answer's body.
func (m *Message) start() []byte {
	b := []byte(`{"jsonrpc":"2.0",`)
	if m.id != nil {
		b = append(append(append(b, `"id":`...), m.id...), ',')
	}
	return b
}

// statusOf is the status of an error of the current version. Clients of older ones
// would take it for a fault of the connection.
func (m *Message) statusOf(status int) int {
	if m.current {
		return status
	}
	return http.StatusOK
}

// invalid is the answer to a message whose parameters are not valid.
func (m *Message) invalid(format string, args ...any) *store.Answer {
	return m.refuse(m.statusOf(http.StatusBadRequest), invalidParams, format, args...)
}

// unsupported is the answer to a message of a version that is not served.
func (m *Message) unsupported(version string) *store.Answer {
	data := append([]byte(`{"supported":`), supported()...)
	data = store.AppendJSONString(append(data, `,"requested":`...), version)
	return m.fail(http.StatusBadRequest, unsupportedVersion, "This server does not support that version of the protocol.", append(data, '}'))
}

// supported are all versions, as JSON.
func supported() []byte {
	list, _ := json.Marshal(append([]string{current}, older...))
	return list
}

// UnknownTool is the answer to a call of a tool that does not exist.
func (m *Message) UnknownTool() store.Answer {
	return *m.invalid("params.name: there is no such tool. %s lists the tools.", ListTools)
}

// Accepted is the answer to a notification.
func (m *Message) Accepted() store.Answer { return store.Answer{Status: http.StatusAccepted} }

// Pong is the answer to Ping.
func (m *Message) Pong() store.Answer { return m.result(nil) }

// result is an answer with the fields of a result, each with a comma after it.
func (m *Message) result(fields []byte) store.Answer {
	b := append(append(m.start(), `"result":{`...), fields...)
	if m.current {
		b = append(b, `"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":`...)
		b = append(append(b, m.server.appendJSON(nil)...), "},"...)
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return store.Answer{Status: http.StatusOK, ContentType: contentType, Body: append(b, "}}"...)}
}

func (s Server) appendJSON(b []byte) []byte {
	b = store.AppendJSONString(append(b, `{"name":`...), s.Name)
	b = store.AppendJSONString(append(b, `,"title":`...), s.Title)
	b = store.AppendJSONString(append(b, `,"version":`...), s.Version)
	return append(b, '}')
}

// Introduction is the answer to Initialize and to Discover. The instructions are for
// the assistant; empty: there are none.
func (m *Message) Introduction(instructions string) store.Answer {
	var b []byte
	if m.Method == Initialize {
		b = store.AppendJSONString(append(b, `"protocolVersion":`...), m.negotiated())
		b = append(m.server.appendJSON(append(b, `,"serverInfo":`...)), ',')
	} else {
		b = append(append(b, `"supportedVersions":`...), supported()...)
		b = append(appendFreshness(append(b, ',')), ',')
	}
	b = append(b, `"capabilities":{"tools":{}},`...)
	if instructions != "" {
		b = append(store.AppendJSONString(append(b, `"instructions":`...), instructions), ',')
	}
	return m.result(b)
}

// negotiated is the version that the client asked for, or the newest that begins with
// initialize.
func (m *Message) negotiated() string {
	asked, _ := text(m.params["protocolVersion"])
	if slices.Contains(older, asked) {
		return asked
	}
	return older[0]
}

func appendFreshness(b []byte) []byte {
	return append(strconv.AppendInt(append(b, `"ttlMs":`...), freshFor, 10), `,"cacheScope":"private"`...)
}

// Tools is the answer to ListTools, with the definitions of all tools, as JSON.
func (m *Message) Tools(definitions [][]byte) store.Answer {
	b := []byte(`"tools":[`)
	for i, definition := range definitions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, definition...)
	}
	b = append(b, "],"...)
	if m.current {
		b = append(appendFreshness(b), ',')
	}
	return m.result(b)
}

// ToolResult is the answer to CallTool, out of the JSON answer of the called operation.
// What the operation refuses is a result that the assistant reads; a fault of the
// server is an error of the protocol.
func (m *Message) ToolResult(a store.Answer) store.Answer {
	if a.Status >= http.StatusInternalServerError {
		return *m.fail(a.Status, internal, "The server could not execute this call.", a.Body)
	}
	b := store.AppendJSONString([]byte(`"content":[{"type":"text","text":`), string(a.Body))
	b = append(b, "}],"...)
	if a.Status < http.StatusBadRequest {
		b = append(append(append(b, `"structuredContent":`...), a.Body...), ',')
	}
	b = strconv.AppendBool(append(b, `"isError":`...), a.Status >= http.StatusBadRequest)
	return m.result(append(b, ','))
}
