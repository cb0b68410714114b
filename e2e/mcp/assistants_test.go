// Package mcp_test has the official SDK's client, and the conformance suite of the Model
// Context Protocol, talk to the server.
package mcp_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/engines"
	"teamdata/e2e/kit/orgs"
	"teamdata/e2e/kit/referee"
	"teamdata/internal/localca"
	"teamdata/server"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
	"teamdata/wire/openapi"
	"teamdata/wire/web"
)

// assistants is the official SDK's client, and a server that it reaches over TLS.
type assistants struct {
	*kit.Env[store.Engine]
	server *server.Server
	url    string
	roots  *x509.CertPool
}

// newServer makes a server on the orgs of the API's own tests.
func newServer(t *testing.T) (*kit.Env[store.Engine], *server.Server) {
	env := kit.NewEnv(t, engines.Opener(t, boltstore.Options{}), orgs.Fill)
	return env, server.New(storetest.Scoped(t, env.Store), server.Config{Now: env.Now, Log: zerolog.New(env.LogOutput)})
}

func newAssistants(t *testing.T) *assistants {
	t.Helper()
	env, srv := newServer(t)
	caFile := filepath.Join(t.TempDir(), "ca.pem")
	config, err := localca.Loopback(time.Now(), "test", caFile)
	kit.Must(t, err)
	l := kit.Loopback(t)
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(l, config) }()
	t.Cleanup(func() {
		srv.Shutdown(context.Background())
		if err := <-ended; err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	})
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM([]byte(kit.ReadText(t, caFile)))
	return &assistants{env, srv, "https://" + l.Addr().String() + path, roots}
}

// path is where assistants connect.
const path = "/mcp"

// do answers a request of the API with a key, without a network, as its description says.
func (a *assistants) do(method, path, key string, header ...string) *httptest.ResponseRecorder {
	r, err := http.NewRequest(method, path, http.NoBody)
	kit.Must(a, err)
	r.RemoteAddr = "192.0.2.1:1234"
	r.Header.Set("Authorization", "Bearer "+key+"."+orgs.Secret)
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	answer := httptest.NewRecorder()
	contract.Watch(a, a.server, described().Faults).ServeHTTP(answer, r)
	return answer
}

var described = sync.OnceValue(func() *contract.Contract {
	document, _ := openapi.Of("2026-10-06")
	c, err := contract.ReadBy(referee.Compile, document.JSON)
	if err != nil {
		panic(err)
	}
	return c
})

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
	r.Header.Set("Authorization", "Bearer "+k.key+"."+orgs.Secret)
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
	kit.Must(a, err)
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
	kit.Must(t, json.Unmarshal([]byte(text), &decoded))
	return fmt.Sprint(decoded) == fmt.Sprint(value)
}

func names(t testing.TB, session *sdk.ClientSession) (names []string) {
	t.Helper()
	for tool, err := range session.Tools(t.Context(), nil) {
		kit.Must(t, err)
		names = append(names, tool.Name)
	}
	return names
}
