package server

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/rs/zerolog"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/contract"
	"teamdata/e2e/kit/engines"
	"teamdata/e2e/kit/orgs"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/storetest"
)

// storeEnv is a real store.
type storeEnv = kit.Env[store.Engine]

// testEnv is a server on a fixture.
type testEnv struct {
	*storeEnv
	server *Server
	addr   string          // where the server listens, once it was asked for
	added  map[string]bool // paths of routes that the test added
}

// newTestEnv makes a server on the fixture. The clock and the log are the
// environment's own. In a test, each exchange is held to the document of the API.
func newTestEnv(t testing.TB, c Config) *testEnv {
	t.Helper()
	env := &testEnv{storeEnv: kit.NewEnv(t, engines.Opener(t, boltstore.Options{}), orgs.Fill), added: map[string]bool{}}
	c.Now, c.Log, c.documents = env.Now, zerolog.New(env.LogOutput), knownDocument
	env.server = New(storetest.Scoped(t, env.Store), c)
	if _, measured := t.(*testing.B); !measured {
		env.server.http.Handler = contract.Watch(env, env.server.http.Handler, env.faults)
	}
	return env
}

// listen starts the server on a free port, over plain HTTP unless it listens
// already, and returns its address.
func (env *testEnv) listen() string {
	env.Helper()
	if env.addr == "" {
		env.listenWith(false)
	}
	return env.addr
}

// listenWith starts the server on a free port.
func (env *testEnv) listenWith(secure bool) {
	env.Helper()
	var config *tls.Config
	if secure {
		config = env.localTLS()
	}
	l := kit.Loopback(env)
	env.addr = l.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- env.server.Serve(l, config) }()
	env.Cleanup(func() {
		env.server.http.Close()
		if err := <-ended; err != nil {
			env.Errorf("Serve ended with %v", err)
		}
	})
}

// fixtureSecret is the secret of every key of the fixture.
const fixtureSecret = orgs.Secret

// request makes a request with a key of the fixture; no key when keyID is empty.
func newRequest(method, path, keyID string, header ...string) *http.Request {
	r, err := http.NewRequest(method, path, http.NoBody)
	if err != nil {
		panic(err)
	}
	r.RemoteAddr = "192.0.2.1:1234"
	if keyID != "" {
		r.Header.Set("Authorization", "Bearer "+keyID+"."+fixtureSecret)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	return r
}

// do answers a request without a network.
func (env *testEnv) do(r *http.Request) *httptest.ResponseRecorder {
	return recorded(env.server.http.Handler, r)
}

func recorded(h http.Handler, r *http.Request) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer
}

// header returns the values of a header whose name was written in this case.
func header(answer *httptest.ResponseRecorder, name string) []string { return answer.Header()[name] }

func changeRole(tx store.Tx, actorID, orgID, userID, role string) error {
	_, err := store.ChangeMember(tx, actorID, orgID, userID, store.MemberChange{Role: &role})
	return err
}
