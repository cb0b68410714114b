// Package mcp is the Model Context Protocol as spoken by a server that offers tools and
// keeps nothing between two messages: it reads a client's message (message.go) and
// writes the answer (answer.go). The tools, and who may call them, are the caller's.
//
// The protocol has two forms. A message of version 2026-07-28 carries its version
// itself. Clients of an older version begin with initialize, and then name the
// version in a header. Both are answered with one JSON object, never with a stream.
//
// The package imports store and internal/canonical. See https://modelcontextprotocol.io/specification.
package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"teamdata/internal/canonical"
	"teamdata/store"
)

// current is the version whose messages carry it.
const current = "2026-07-28"

// older are the versions that begin with initialize, newest first. Before them a
// message could be a batch, which would escape the limits of requests.
var older = []string{"2025-11-25", "2025-06-18"}

// The methods that are served.
const (
	Initialize = "initialize"      // of older versions
	Ping       = "ping"            // of older versions
	Discover   = "server/discover" // of the current version
	ListTools  = "tools/list"
	CallTool   = "tools/call"
)

// The fields of a message's _meta that the current version requires.
const (
	metaVersion      = "io.modelcontextprotocol/protocolVersion"
	metaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// Server is how a server introduces itself.
type Server struct{ Name, Title, Version string }

// object is a JSON object. Unlike in a struct, a name has to match exactly.
type object map[string]json.RawMessage

// Message is a client's request or notification.
type Message struct {
	Method    string
	ToolName  string                     // of CallTool
	Arguments map[string]json.RawMessage // of CallTool, by name
	server    Server
	id        json.RawMessage // nil: a notification, or not known
	params    object
	current   bool // of the current version
}

// Read reads the message in the body of a POST, and compares it with the headers that
// repeat parts of it. refusal is the answer to a message that is not valid; nil: it is.
func (s Server) Read(body []byte, h http.Header) (m *Message, refusal *store.Answer) {
	m = &Message{server: s}
	return m, cmp.Or(m.parse(body), m.checkVersion(h), m.checkHeaders(h), m.checkMethod())
}

func (m *Message) parse(body []byte) *store.Answer {
	var fields object
	if !utf8.Valid(body) || !json.Valid(body) { // the answer repeats the id as it is
		return m.refuse(http.StatusBadRequest, notJSON, "The body is not JSON in UTF-8.")
	}
	if json.Unmarshal(body, &fields) != nil || fields == nil {
		return m.refuse(http.StatusBadRequest, notAMessage, "The body must be one JSON-RPC message, an object. Batches are not supported.")
	}
	id, isRequest := fields["id"]
	if isRequest && !validID(id) {
		return m.refuse(http.StatusBadRequest, notAMessage, "id: must be a string or a whole number.")
	}
	m.id = id
	var ok bool
	if m.Method, ok = text(fields["method"]); !ok || m.Method == "" {
		return m.refuse(http.StatusBadRequest, notAMessage, "method: must be the name of a method. This server sends no requests, so it takes no responses.")
	}
	if version, _ := text(fields["jsonrpc"]); version != "2.0" {
		return m.refuse(http.StatusBadRequest, notAMessage, `jsonrpc: must be "2.0".`)
	}
	if m.params, ok = parseObject(fields["params"]); !ok {
		return m.refuse(http.StatusBadRequest, invalidParams, "params: must be an object.")
	}
	m.ToolName, _ = text(m.params["name"])
	return nil
}

func validID(id json.RawMessage) bool {
	if strings.IndexByte("-0123456789", id[0]) < 0 {
		return id[0] == '"'
	}
	_, isWhole := canonical.Integer(string(id))
	return isWhole
}

// isGiven reports whether a field has a value: null counts as left out.
func isGiven(value json.RawMessage) bool { return value != nil && string(value) != "null" }

// text reads a JSON string.
func text(value json.RawMessage) (s string, ok bool) {
	ok = len(value) > 0 && value[0] == '"' && json.Unmarshal(value, &s) == nil
	return s, ok
}

// parseObject reads a JSON object; one that is left out is nil.
func parseObject(value json.RawMessage) (o object, ok bool) {
	if !isGiven(value) {
		return nil, true
	}
	ok = json.Unmarshal(value, &o) == nil
	return o, ok
}

// checkVersion finds the version of a message: what it says itself, or the header. With
// neither, it is an older one. The header says what was negotiated, so it does not count
// for initialize, which negotiates.
func (m *Message) checkVersion(h http.Header) *store.Answer {
	meta, ok := parseObject(m.params["_meta"])
	if !ok {
		return m.refuse(http.StatusBadRequest, invalidParams, "params._meta: must be an object.")
	}
	header := h["Mcp-Protocol-Version"]
	version, isOwn := text(meta[metaVersion])
	if m.Method == Initialize && !isOwn {
		return nil
	}
	if len(header) > 1 || isOwn && !saysOnce(header, version) {
		return m.refuse(http.StatusBadRequest, headerMismatch, "The header MCP-Protocol-Version must be sent once, and match %s in params._meta.", metaVersion)
	}
	if !isOwn && len(header) == 1 {
		version = header[0]
	}
	m.current = version == current
	switch {
	case m.current:
		return m.checkMeta(isOwn, meta)
	case version != "" && !slices.Contains(older, version):
		return m.unsupported(version)
	}
	return nil
}

// checkMeta checks what each request of the current version has to carry.
func (m *Message) checkMeta(hasVersion bool, meta object) *store.Answer {
	if m.IsNotification() {
		return nil
	}
	if !hasVersion {
		return m.refuse(http.StatusBadRequest, invalidParams, "params._meta: needs %s, a text.", metaVersion)
	}
	if capabilities, ok := parseObject(meta[metaCapabilities]); !ok || capabilities == nil {
		return m.refuse(http.StatusBadRequest, invalidParams, "params._meta: needs %s, an object.", metaCapabilities)
	}
	return nil
}

// checkHeaders compares the message with the headers that repeat its method and the
// tool that it calls: a proxy may have decided by them.
func (m *Message) checkHeaders(h http.Header) *store.Answer {
	if !m.current || m.IsNotification() {
		return nil
	}
	if !saysOnce(h["Mcp-Method"], m.Method) {
		return m.refuse(http.StatusBadRequest, headerMismatch, "The header Mcp-Method must be sent once, and match method.")
	}
	if m.Method == CallTool && !saysOnce(h["Mcp-Name"], m.ToolName) {
		return m.refuse(http.StatusBadRequest, headerMismatch, "The header Mcp-Name must be sent once, and match params.name.")
	}
	return nil
}

// saysOnce reports whether the values of a header are one, which is this text, or the
// base64 of it between =?base64? and ?=.
func saysOnce(values []string, text string) bool {
	if len(values) != 1 {
		return false
	}
	value, encoded := strings.CutPrefix(values[0], "=?base64?")
	if value, ended := strings.CutSuffix(value, "?="); encoded && ended {
		plain, err := base64.StdEncoding.DecodeString(value)
		return err == nil && string(plain) == text
	}
	return values[0] == text
}

func (m *Message) checkMethod() *store.Answer {
	served := []string{Initialize, Ping, ListTools, CallTool}
	if m.current {
		served = []string{Discover, ListTools, CallTool}
	}
	arguments, ok := parseObject(m.params["arguments"])
	m.Arguments = arguments
	_, asksForVersion := text(m.params["protocolVersion"])
	switch {
	case m.IsNotification() && !strings.HasPrefix(m.Method, "notifications/"):
		return m.refuse(http.StatusBadRequest, notAMessage, "id: is missing, and this is not a notification.")
	case m.IsNotification():
		return nil
	case !slices.Contains(served, m.Method):
		return m.refuse(m.statusOf(http.StatusNotFound), methodNotFound, "There is no such method. This server has %s.", strings.Join(served, ", "))
	case m.Method == Initialize && !asksForVersion:
		return m.invalid("params.protocolVersion: must be a version of the protocol.")
	case m.Method == CallTool && !ok:
		return m.invalid("params.arguments: must be an object.")
	case m.Method == ListTools && isGiven(m.params["cursor"]):
		return m.invalid("params.cursor: all tools are on the first page.")
	}
	return nil
}

// IsNotification reports whether the client expects no answer.
func (m *Message) IsNotification() bool { return m.id == nil }
