// Package pebble is an ACME authority for tests: Pebble, which really connects to
// the domain to be certified, and the DNS server that it asks for the address.
//
// It is for tests alone and imports nothing of ours. Behaviour of an authority that a
// test needs is a field of [Config].
package pebble

import (
	"bytes"
	"cmp"
	"crypto/fips140"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/miekg/dns"

	"teamdata/e2e/kit"
)

// Config says how an authority behaves.
type Config struct {
	TLSPort   int           // where it connects for tls-alpn-01; 0: where nothing listens
	HTTPPort  int           // where it connects for http-01; 0: where nothing listens
	Life      time.Duration // of its certificates, in whole seconds; 0: 90 days
	BadNonces int           // how many percent of good nonces it refuses
	BusyOnce  time.Duration // it answers one request with 429 and this Retry-After, in whole seconds; 0: it doesn't
	BusyAt    string        // the first request whose path begins so
	FailsAt   string        // it answers 500 to each request whose path begins so; empty: to none
	NoARI     bool          // it suggests no time to renew a certificate
}

// Authority is a running authority. Every name resolves to 127.0.0.1.
type Authority struct {
	Directory string         // the URL of its directory
	CAPEM     []byte         // verifies its own server
	Calls     atomic.Int64   // how many requests it got
	Issued    *x509.CertPool // verifies its certificates; set by Open

	t       testing.TB
	address string
	server  *httptest.Server
	opened  chan struct{}
	pebble  http.Handler
	manage  http.Handler
	config  Config
	busy    time.Duration // see Config.BusyOnce
	one     sync.Mutex    // request at a time: Pebble has a data race when one account is made twice at once
	made    map[string]int
}

// What is counted by Made.
const (
	Accounts = "/sign-me-up"
	Orders   = "/order-plz"
	Issues   = "/finalize-order/"
	Asked    = "/draft-ietf-acme-ari-03/renewalInfo/" // when to renew
)

// Made counts how often something was made.
func (a *Authority) Made(what string) int {
	a.one.Lock()
	defer a.one.Unlock()
	return a.made[what]
}

// New starts an authority. It answers only after Open, since its address must be
// known before the ports to which it connects.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, address: kit.Reserved(t), opened: make(chan struct{})}
	a.Start()
	a.Directory = a.server.URL + wfe.DirectoryPath
	a.CAPEM = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.server.Certificate().Raw})
	t.Cleanup(func() { a.server.Close() })
	return a
}

// Roots verify its own server.
func (a *Authority) Roots() *x509.CertPool {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(a.CAPEM)
	return roots
}

// Start accepts connections again after Stop.
func (a *Authority) Start() {
	a.t.Helper()
	l := kit.ListenOn(a.t, a.address)
	a.server = httptest.NewUnstartedServer(http.HandlerFunc(a.serve))
	a.server.Config.ErrorLog = log.New(io.Discard, "", 0)
	a.server.Listener.Close()
	a.server.Listener = l
	fips140.WithoutEnforcement(a.server.StartTLS) // Pebble makes key identifiers with SHA-1
}

// Stop refuses all connections until Start.
func (a *Authority) Stop() { a.server.Close() }

func (a *Authority) serve(w http.ResponseWriter, r *http.Request) {
	select {
	case <-a.opened:
	case <-r.Context().Done():
		return
	}
	a.Calls.Add(1)
	// Clients that poll for a result need not wait.
	w.Header().Set("Retry-After", time.Unix(0, 0).UTC().Format(http.TimeFormat))
	a.one.Lock()
	defer a.one.Unlock()
	if a.busy > 0 && strings.HasPrefix(r.URL.Path, a.config.BusyAt) {
		w.Header().Set("Retry-After", strconv.Itoa(int(a.busy/time.Second)))
		http.Error(w, "busy", http.StatusTooManyRequests)
		a.busy = 0
		return
	}
	if at := a.config.FailsAt; at != "" && strings.HasPrefix(r.URL.Path, at) {
		http.Error(w, "failed", http.StatusInternalServerError)
		return
	}
	answer := httptest.NewRecorder()
	maps.Copy(answer.Header(), w.Header())
	a.pebble.ServeHTTP(answer, r)
	for _, what := range []string{Accounts, Orders, Issues, Asked} {
		made := what == Issues || what == Asked || answer.Code == http.StatusCreated
		if strings.HasPrefix(r.URL.Path, what) && answer.Code < http.StatusBadRequest && made {
			a.made[what]++
		}
	}
	if a.config.NoARI && r.URL.Path == wfe.DirectoryPath {
		answer.Body = bytes.NewBuffer(bytes.ReplaceAll(answer.Body.Bytes(), []byte(`"renewalInfo"`), []byte(`"formerly"`)))
		answer.Header().Del("Content-Length")
	}
	maps.Copy(w.Header(), answer.Header())
	w.WriteHeader(answer.Code)
	answer.Body.WriteTo(w)
}

// Suggest sets what it answers when it is asked when to renew a certificate: JSON as RFC
// 9773 has it, or something else.
func (a *Authority) Suggest(c *x509.Certificate, answer string) {
	a.t.Helper()
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
	body, err := json.Marshal(map[string]string{"certificate": string(text), "ariResponse": answer})
	kit.Must(a.t, err)
	w, q := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/set-renewal-info/", bytes.NewReader(body))
	q.Header.Set("User-Agent", "acmetest")
	a.one.Lock()
	defer a.one.Unlock()
	a.manage.ServeHTTP(w, q)
	if w.Code != http.StatusOK {
		a.t.Fatalf("it answered %d %s", w.Code, w.Body)
	}
}

// SuggestWindow sets when it wants a certificate to be renewed.
func (a *Authority) SuggestWindow(c *x509.Certificate, from, until time.Time) {
	a.t.Helper()
	a.Suggest(c, fmt.Sprintf(`{"suggestedWindow":{"start":%q,"end":%q},"explanationURL":"https://acme.test/why"}`, from.Format(time.RFC3339), until.Format(time.RFC3339)))
}

// environment guards the variables from which Pebble reads part of its settings.
var environment sync.Mutex

// Open lets it answer and issue.
func (a *Authority) Open(c Config) {
	a.t.Helper()
	a.Reset(c)
	close(a.opened)
}

// Reset reinstalls the authority: it has no accounts, and its certificates are
// from another root.
func (a *Authority) Reset(c Config) {
	a.t.Helper()
	a.one.Lock()
	defer a.one.Unlock()
	environment.Lock()
	defer environment.Unlock()
	for name, value := range map[string]string{
		"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_AUTHZREUSE": "0", "PEBBLE_WFE_NONCEREJECT": strconv.Itoa(c.BadNonces),
	} {
		os.Setenv(name, value)
		defer os.Unsetenv(name)
	}
	quiet := log.New(io.Discard, "", 0)
	memory := db.NewMemoryStore()
	profiles := map[string]ca.Profile{"default": {ValidityPeriod: uint64(c.Life / time.Second)}}
	var issuer *ca.CAImpl
	fips140.WithoutEnforcement(func() { issuer = ca.New(quiet, memory, "", "ecdsa", 0, 1, profiles) })
	const closed = 1 // a port at which nothing listens
	validator := va.New(quiet, cmp.Or(c.HTTPPort, closed), cmp.Or(c.TLSPort, closed), false, names(a.t), memory)
	api := wfe.New(quiet, memory, validator, issuer, []string{"pebble.letsencrypt.org"}, false, false, 0, 0)
	a.pebble, a.manage, a.config, a.busy = api.Handler(), api.ManagementHandler(), c, c.BusyOnce
	a.made = map[string]int{}
	a.Issued = x509.NewCertPool()
	a.Issued.AddCert(issuer.GetRootCert(0).Cert)
}

// names starts a DNS server that answers 127.0.0.1 for every name, and returns its
// address. Pebble asks it over TCP.
func names(t testing.TB) string {
	t.Helper()
	l := kit.Loopback(t)
	server := &dns.Server{Listener: l, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if question := q.Question[0]; question.Qtype == dns.TypeA {
			answer.Answer = []dns.RR{&dns.A{
				Hdr: dns.RR_Header{Name: question.Name, Rrtype: dns.TypeA, Class: dns.ClassINET},
				A:   net.IPv4(127, 0, 0, 1),
			}}
		}
		w.WriteMsg(answer)
	})}
	var served sync.WaitGroup
	served.Go(func() { server.ActivateAndServe() })
	t.Cleanup(func() {
		l.Close()
		served.Wait()
	})
	return l.Addr().String()
}
