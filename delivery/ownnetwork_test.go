package delivery

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/issuer"
	"teamdata/store"
)

// sending are options that hold a certificate, its key and a CA; empty: none.
func sending(certificate, key, ca string) store.SendOptions {
	return store.SendOptions{ClientCertificate: certificate, ClientKey: key, CA: ca}
}

// sendAs makes an attempt with options.
func sendAs(s *sender, url string, number uint64, o store.SendOptions) store.Attempt {
	e := store.Endpoint{Number: number, URL: url, Secret: store.NewEndpointSecret(), Sending: o}
	a, _ := s.send(context.Background(), &e, &store.Claim{Delivery: store.Delivery{ID: "whd_1"}, Body: []byte(`{}`)})
	return a
}

// mutual is a receiver that wants a certificate of an authority.
func mutual(t testing.TB, of *issuer.CA, answer http.HandlerFunc) *httptest.Server {
	certificate, key := of.Issue(t, "receiver", time.Now().Add(time.Hour))
	pair, err := tls.X509KeyPair([]byte(certificate), []byte(key))
	kit.Must(t, err)
	r := httptest.NewUnstartedServer(answer)
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // it names those that it refuses
	r.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: of.Pool()}
	r.StartTLS()
	t.Cleanup(r.Close)
	r.URL = strings.Replace(r.URL, "127.0.0.1", "localhost", 1)
	return r
}

// The headers go out as they were typed, once each, and instead of ours where that is
// allowed.
func TestHeadersAsTyped(t *testing.T) {
	certificate := trusted().issue(func(c *x509.Certificate) { c.DNSNames = []string{"localhost"} })
	l, err := tls.Listen("tcp", "localhost:0", &tls.Config{Certificates: []tls.Certificate{certificate}})
	kit.Must(t, err)
	defer l.Close()
	got := make(chan []string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		var lines []string
		for in := bufio.NewScanner(c); in.Scan() && in.Text() != ""; {
			lines = append(lines, in.Text())
		}
		c.Write([]byte("HTTP/1.1 204 No Content\r\n\r\n"))
		got <- lines
	}()
	var o store.SendOptions
	o.SetHeaders([]string{"authorization", "USER-agent", "x-api-KEY", "X.odd~"}, []string{"Bearer a b", "Acme/1", "1, 2", `"~"`})
	_, port, _ := strings.Cut(l.Addr().String(), ":")
	s := newSender(Config{RootCAs: trusted().roots()}.withDefaults())
	if a := sendAs(s, "https://localhost:"+port[strings.LastIndex(port, ":")+1:]+"/", 1, o); a.Status != 204 {
		t.Fatal(a.Reason)
	}
	lines := <-got
	for _, want := range []string{"authorization: Bearer a b", "User-Agent: Acme/1", "x-api-KEY: 1, 2", `X.odd~: "~"`, "Content-Type: application/json"} {
		if !slices.Contains(lines, want) {
			t.Errorf("no line %q in\n%s", want, strings.Join(lines, "\n"))
		}
	}
	if n := len(lines); n != 11 { // the request, Host, Content-Length, Content-Type, 3 of the signature and these 4
		t.Errorf("%d lines:\n%s", n, strings.Join(lines, "\n"))
	}
}

// A receiver that wants a client certificate gets the endpoint's. What it refuses fails the
// attempt in its words.
func TestClientCertificate(t *testing.T) {
	ours, others := issuer.New(t, "ours"), issuer.New(t, "others")
	var name atomic.Value
	r := mutual(t, ours, func(_ http.ResponseWriter, q *http.Request) { name.Store(q.TLS.PeerCertificates[0].Subject.CommonName) })
	soon := time.Now().Add(time.Hour)
	right, rightKey := ours.Issue(t, "acme", soon)
	wrong, wrongKey := others.Issue(t, "acme", soon)
	ended, endedKey := ours.Issue(t, "acme", time.Now().Add(-time.Hour))
	system := newReceiver(t, nil)
	for what, test := range map[string]struct {
		url    string
		o      store.SendOptions
		config Config
		want   string // in the reason; empty: acknowledged
	}{
		"right":                        {r.URL, sending(right, rightKey, ours.PEM), Config{}, ""},
		"right, by the server's roots": {r.URL, sending(right, rightKey, ""), Config{RootCAs: ours.Pool()}, ""},
		"another's":                    {r.URL, sending(wrong, wrongKey, ours.PEM), Config{}, "TLS: the receiver refused: unknown certificate authority"},
		"none":                         {r.URL, sending("", "", ours.PEM), Config{}, "TLS: the receiver refused: certificate required"},
		"none, by the server's roots":  {r.URL, sending("", "", ""), Config{RootCAs: ours.Pool()}, "TLS: the receiver refused: certificate required"},
		"expired":                      {r.URL, sending(ended, endedKey, ours.PEM), Config{}, "TLS: the receiver refused: expired certificate"},
		"another CA":                   {r.URL, sending(right, rightKey, others.PEM), Config{}, "TLS: x509: certificate signed by unknown authority"},
		"a CA beside the server's":     {system.URL, sending("", "", ours.PEM), Config{RootCAs: system.roots()}, ""},
		"shown to who asks for none":   {system.URL, sending(right, rightKey, ""), Config{RootCAs: system.roots()}, ""},
		"an odd key":                   {r.URL, sending(right, "", ""), Config{}, errClientCertificate.Error()},
		"an odd CA":                    {r.URL, sending("", "", "ours"), Config{}, errCA.Error()},
	} {
		t.Run(what, func(t *testing.T) {
			name.Store("")
			a := sendAs(newSender(test.config.withDefaults()), test.url, 1, test.o)
			if a.Acknowledged() != (test.want == "") || !strings.Contains(a.Reason, test.want) {
				t.Errorf("answered %d, %q", a.Status, a.Reason)
			}
			if came := name.Load() == "acme"; came != (test.url == r.URL && test.want == "") {
				t.Errorf("it came to the handler: %t", came)
			}
		})
	}
}

// While the certificate is replaced again and again, no attempt fails, and what begins after
// a change shows the new one. Connections of two endpoints are never shared.
func TestCertificateRotation(t *testing.T) {
	env, ca := newEnv(t), issuer.New(t, "ours")
	const deliveries, changes = 600, 6
	names := make(chan string, 2*deliveries)
	r := mutual(t, ca, func(_ http.ResponseWriter, q *http.Request) { names <- q.TLS.PeerCertificates[0].Subject.CommonName })
	e, other := env.endpoint(r.URL), env.endpoint(r.URL)
	change := func(id, name string) {
		certificate, key := ca.Issue(t, name, time.Now().Add(time.Hour))
		env.update(func(tx store.Tx) error {
			_, err := store.ChangeEndpoint(tx, "", testOrg, id, store.EndpointChange{Sending: store.SendChange{ClientCertificate: &certificate, ClientKey: &key, CA: &ca.PEM}})
			return err
		})
	}
	change(e.ID, "0")
	change(other.ID, "other")
	env.run(Config{})
	seen, last := map[string]int{}, ""
	for i := range changes {
		env.sendTests([]string{e.ID, other.ID}, deliveries/changes/2)
		for range deliveries / changes / 3 {
			last = <-names
			seen[last]++
		}
		change(e.ID, fmt.Sprint(i+1)) // while the rest is on its way
	}
	for n := 0; n < deliveries-deliveries/changes/3*changes; n++ {
		seen[<-names]++
	}
	before := len(names)
	d := env.awaitState(env.sendTest(e.ID).ID, store.StateAcknowledged)
	if name := <-names; d.Attempts != 1 || before != 0 || name != fmt.Sprint(changes) {
		t.Errorf("the last came with %q, after %d attempts and %d others", name, d.Attempts, before)
	}
	if seen["other"] != deliveries/2 || len(seen) < 3 {
		t.Errorf("certificates were shown so often: %v", seen)
	}
	env.view(func(tx store.Tx) error {
		for _, e := range []store.Endpoint{e, other} {
			done, _, err := tx.DeliveryPage(e.Number, store.ListAcknowledged, store.Cursor{}, deliveries)
			for _, d := range done {
				if d.Attempts != 1 || d.State != store.StateAcknowledged {
					t.Errorf("%s: %s after %d attempts", d.ID, d.State, d.Attempts)
				}
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// At most so many networks are kept, those that were used last.
func TestOwnNetworksAreBounded(t *testing.T) {
	n := ownNetworks{config: Config{}.withDefaults()}
	ca := issuer.New(t, "ours")
	of := func(number uint64) http.RoundTripper {
		network, err := n.of(&store.Endpoint{Number: number, Sending: sending("", "", ca.PEM)})
		kit.Must(t, err)
		return network
	}
	first, second := of(1), of(2)
	for i := range uint64(maxOwnNetworks - 2) {
		of(i + 3)
	}
	if of(1) != first || n.recent.Len() != maxOwnNetworks {
		t.Errorf("%d networks are kept, and the first is %t", n.recent.Len(), of(1) == first)
	}
	of(maxOwnNetworks + 1)
	if len(n.by) != maxOwnNetworks || n.recent.Len() != maxOwnNetworks || of(1) != first || of(2) == second {
		t.Errorf("%d and %d are kept", len(n.by), n.recent.Len())
	}
}

// A network that is not used for as long as its connections last is forgotten with them: its
// endpoint may have been removed, and the key is not to stay in memory.
func TestOwnNetworkForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := ownNetworks{config: Config{}.withDefaults()}
		ca := issuer.New(t, "ours").PEM
		use := func(number uint64) {
			_, err := n.of(&store.Endpoint{Number: number, Sending: sending("", "", ca)})
			kit.Must(t, err)
		}
		kept := func(after time.Duration, want ...uint64) {
			t.Helper()
			time.Sleep(after)
			synctest.Wait()
			n.mu.Lock()
			defer n.mu.Unlock()
			if got := slices.Sorted(maps.Keys(n.by)); !slices.Equal(got, want) || n.recent.Len() != len(want) {
				t.Errorf("%d are kept, not %d", got, want)
			}
		}
		use(1)
		use(2)
		kept(idleTimeout-1, 1, 2)
		use(2)
		kept(1, 2)
		kept(idleTimeout - 1)
	})
}
