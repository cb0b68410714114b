package delivery

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// What was parsed of an endpoint is parsed again once any of it has changed.
func TestChangedEndpointIsParsedAgain(t *testing.T) {
	e := store.Endpoint{
		Number: 7, URL: "https://receiver.example/hook",
		Secret: store.NewEndpointSecret(), OldSecret: store.NewEndpointSecret(), OldSecretUntil: time.Now().Add(time.Hour),
	}
	for name, change := range map[string]func(*store.Endpoint){
		"URL":        func(e *store.Endpoint) { e.URL += "?" },
		"secret":     func(e *store.Endpoint) { e.Secret = store.NewEndpointSecret() },
		"old secret": func(e *store.Endpoint) { e.OldSecret = "" },
		"overlap":    func(e *store.Endpoint) { e.OldSecretUntil = time.Now() },
		"headers":    func(e *store.Endpoint) { e.Sending.SetHeaders([]string{"A"}, []string{"b"}) },
	} {
		var ts targets
		before, err := ts.of(&e)
		kit.Must(t, err)
		if same, _ := ts.of(&e); same != before {
			t.Error("nothing has changed, and it is parsed again")
		}
		changed := e
		change(&changed)
		if after, _ := ts.of(&changed); after == before || !after.isOf(&changed) {
			t.Errorf("the %s has changed, and it is not parsed again", name)
		}
	}
}

// A URL that an older version stored as it was typed goes out as HTTP wants it, and by
// one name of its host.
func TestURLStoredAsTyped(t *testing.T) {
	certificate := trusted().issue(func(c *x509.Certificate) { c.DNSNames = []string{"xn--bcher-kva.example"} })
	got := make(chan *http.Request, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) { got <- q }))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	server.StartTLS()
	defer server.Close()
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	c := Config{RootCAs: trusted().roots(), resolver: newNames(t, map[string]string{"xn--bcher-kva.example": "127.0.0.1"}).resolver()}
	if a := sendOnce(t, "https://BÜCHER.example:"+port+"/a b%2Fc?team=Acme Inc&name=Zoë\u200b", c); !a.Acknowledged() {
		t.Fatal(a.Reason)
	}
	q, host := <-got, "xn--bcher-kva.example"
	if q.RequestURI != "/a%20b%2Fc?team=Acme%20Inc&name=Zo%C3%AB%E2%80%8B" || q.Host != host+":"+port || q.TLS.ServerName != host {
		t.Errorf("it went to %q of %q, and %q by TLS", q.RequestURI, q.Host, q.TLS.ServerName)
	}
}

// An endpoint whose URL was changed gets the next delivery there.
func TestChangedURL(t *testing.T) {
	env := newEnv(t)
	r, moved := newReceiver(t, nil), newReceiver(t, nil)
	roots := r.roots()
	roots.AddCert(moved.Certificate())
	env.run(Config{RootCAs: roots})
	e := env.endpoint(r.URL)
	env.sendTest(e.ID)
	r.next(t)
	e.URL = moved.URL
	env.update(func(tx store.Tx) error { return tx.PutEndpoint(e) })
	env.sendTest(e.ID)
	moved.next(t)
}

// While a rotation's overlap lasts, each delivery verifies with the new secret
// and with the old one; afterwards with the new one alone.
func TestRotation(t *testing.T) {
	env := newEnv(t)
	r := newReceiver(t, nil)
	env.run(Config{RootCAs: r.roots()})
	e := env.endpoint(r.URL)
	first := e.Secret
	env.checkVerifies(r, e.ID, map[string]bool{first: true})

	second := env.rotate(e.ID, time.Hour).Secret
	for range 2 {
		env.checkVerifies(r, e.ID, map[string]bool{first: true, second: true})
	}

	rotated := env.rotate(e.ID, 100*time.Millisecond) // the first secret's overlap ends with it
	env.checkVerifies(r, e.ID, map[string]bool{first: false, rotated.Secret: true})
	<-time.After(time.Until(rotated.OldSecretUntil))
	env.checkVerifies(r, e.ID, map[string]bool{first: false, second: false, rotated.Secret: true})

	before := rotated.Secret
	for range 2 {
		last := env.rotate(e.ID, 0).Secret
		env.checkVerifies(r, e.ID, map[string]bool{before: false, last: true, store.NewEndpointSecret(): false})
		before = last
	}
}

func (env *env) rotate(endpointID string, overlap time.Duration) (e store.Endpoint) {
	env.Helper()
	env.update(func(tx store.Tx) (err error) {
		e, err = store.RotateSecret(tx, "", testOrg, endpointID, "", overlap)
		return err
	})
	return e
}

// checkVerifies checks with the reference library whether a delivery verifies with
// each of the secrets.
func (env *env) checkVerifies(r *receiver, endpointID string, secrets map[string]bool) {
	env.Helper()
	env.sendTest(endpointID)
	got := r.next(env)
	for secret, want := range secrets {
		webhook, err := standardwebhooks.NewWebhook(secret)
		kit.Must(env, err)
		if err := webhook.Verify(got.body, got.header); (err == nil) != want {
			env.Errorf("it is to verify: %t, and the library says %v", want, err)
		}
	}
}
