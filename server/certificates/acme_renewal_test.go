package certificates

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit/pebble"
	"teamdata/store"
)

// afterRenewal is more than two thirds of the life of the tests' certificates, by
// which the tests set the clock forward. Since the authority's clock stays, the new
// certificate is then due as well; the next attempt is after a day.
const afterRenewal = 61 * day

// A certificate is renewed again and again while clients come all the time. The clock
// is set, so that only the wall clock can tell that it is due.
func TestRenewalUnderLoad(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
	authority.Open(pebble.Config{TLSPort: s.port()})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	stop := s.load(domainOfTests, authority.Issued)
	for n := range 3 {
		now = now.Add(afterRenewal)
		s.tried(a)
		if seen := strings.Count(s.log.String(), issued); seen != n+2 {
			t.Fatalf("%d certificates instead of %d, after %d calls; the status is %+v", seen, n+2, authority.Calls.Load(), a.Status()[0])
		}
	}
	if s.mustGet(domainOfTests, authority.Issued).SerialNumber.Cmp(first.SerialNumber) == 0 {
		t.Error("the first certificate is still served")
	}
	if n := stop(); n < 10 {
		t.Errorf("only %d requests: no load", n)
	}
}

// A clock that was set too far ahead uses up none of the authority's limits, whether
// a new certificate is due at once or has expired.
func TestClockIsWrong(t *testing.T) {
	for name, life := range map[string]time.Duration{"due": 0, "expired": time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, authority, now := newEnv(t), pebble.New(t), time.Now().Add(afterRenewal)
			a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
			authority.Open(pebble.Config{TLSPort: s.port(), Life: life})
			s.serve(a)
			if status := s.tried(a); !strings.Contains(status.LastError, "by the clock of this machine") {
				t.Errorf("the status is %+v", status)
			}
			failed := now
			now = now.Add(day - 1)
			if status := s.tried(a); !status.LastErrorAt.Equal(failed) {
				t.Errorf("the next attempt was %v after the first", status.LastErrorAt.Sub(failed))
			}
		})
	}
}

// Nothing is left of an attempt after the next: a timer of autocert's would renew the
// certificate by itself, and keep the manager for good.
func TestAttemptIsGone(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
	authority.Open(pebble.Config{TLSPort: s.port(), Life: 4 * time.Second}) // the timer fires within two
	s.serve(a)
	s.tried(a)
	gone := make(chan struct{})
	runtime.AddCleanup(a.domains[0].manager, func(gone chan struct{}) { close(gone) }, gone)
	now = now.Add(afterRenewal)
	s.tried(a)
	collect := time.NewTicker(50 * time.Millisecond)
	defer collect.Stop()
	for late := time.After(patience / 3); ; {
		select {
		case <-gone:
			if n := strings.Count(s.log.String(), issued); n != 2 {
				t.Errorf("%d certificates were issued", n)
			}
			return
		case <-collect.C:
			runtime.GC()
		case <-late:
			t.Fatalf("autocert's manager is still there, after %d calls; the log says:\n%s", authority.Calls.Load(), s.log)
		}
	}
}

// While the authority can't be reached, the old certificate is served, and the error
// is reported. It is renewed as soon as the authority is back, or at the next start.
func TestAuthorityIsDown(t *testing.T) {
	for name, restart := range map[string]bool{"back": false, "restart": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, authority, now := newEnv(t), pebble.New(t), time.Now()
			config := ACMEConfig{Now: func() time.Time { return now }}
			a, stop := s.acme(authority, config)
			authority.Open(pebble.Config{TLSPort: s.port()})
			s.serve(a)
			s.tried(a)
			authority.Stop()
			now = now.Add(afterRenewal)
			status, last := s.tried(a), s.mustGet(domainOfTests, authority.Issued)
			if !strings.Contains(status.LastError, "connection refused") || status.LastErrorAt.IsZero() || !status.NotAfter.Equal(last.NotAfter) {
				t.Errorf("the status is %+v", status)
			}
			authority.Start()
			if now = now.Add(5 * time.Second); restart {
				stop()
				s.l.Close()
				s.listenAgain()
				a, _ = s.acme(authority, config)
				s.serve(a)
			}
			s.tried(a)
			if s.mustGet(domainOfTests, authority.Issued).SerialNumber.Cmp(last.SerialNumber) == 0 {
				t.Errorf("the old certificate is still served; the log says:\n%s", s.log)
			}
		})
	}
}

// A restart serves an expired certificate, as it was served before: some clients
// look past that. The authority is asked again within seconds.
func TestRestartWithExpired(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	authority.Open(pebble.Config{TLSPort: s.port()})
	authority.Stop()
	s.keepExpired("acme " + authority.Directory + " " + domainOfTests)
	a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
	s.serve(a)
	s.tried(a)
	var expired x509.CertificateInvalidError
	if _, err := s.get(domainOfTests, authority.Issued); !errors.As(err, &expired) || expired.Reason != x509.Expired {
		t.Errorf("the client says: %v", err)
	}
	status := a.Status()[0]
	if !strings.Contains(status.LastError, "connection refused") || !status.NotAfter.Before(now) || status.NotAfter.IsZero() {
		t.Errorf("the status is %+v", status)
	}
	authority.Start()
	now = now.Add(10 * time.Second)
	s.tried(a)
	s.mustGet(domainOfTests, authority.Issued)
}

// keepExpired puts a certificate into the store that expired yesterday.
func (s *env) keepExpired(name string) {
	s.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		s.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{domainOfTests},
		NotBefore: time.Now().Add(-91 * day), NotAfter: time.Now().Add(-day),
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		s.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		s.Fatal(err)
	}
	text := append(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: secret}), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})...)
	if err = s.store.Update(s.Context(), store.All, func(tx store.Tx) error { return tx.PutCertificate(name, text) }); err != nil {
		s.Fatal(err)
	}
}

// No call is made before the time that the authority asked for, not even for another
// challenge.
func TestRetryAfter(t *testing.T) {
	for path, made := range map[string]int64{"/dir": 1, "/chalZ/": 6} { // with nonce, account, order, authorization
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s, authority, now := newEnv(t), pebble.New(t), time.Now()
			a, _ := s.acme(authority, ACMEConfig{HTTP01: true, Now: func() time.Time { return now }})
			authority.Open(pebble.Config{TLSPort: s.port(), BusyOnce: 3 * time.Hour, BusyAt: path})
			s.serve(a)
			if status := s.tried(a); !strings.Contains(status.LastError, "429") {
				t.Errorf("the status is %+v", status)
			}
			now = now.Add(3*time.Hour - 1)
			s.tried(a)
			if n := authority.Calls.Load(); n != made {
				t.Errorf("%d calls came before their time", n-made)
			}
			now = now.Add(1)
			s.tried(a)
			s.mustGet(domainOfTests, authority.Issued)
		})
	}
}

// An account that the authority forgot is made anew without a restart, whether a clock
// or a timer starts the renewal.
func TestAccountIsForgotten(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	a, _ := s.acme(authority, ACMEConfig{Now: func() time.Time { return now }})
	c := pebble.Config{TLSPort: s.port(), Life: 4 * time.Second}
	authority.Open(c)
	s.serve(a)
	s.tried(a)
	authority.Reset(c)
	now = now.Add(afterRenewal)
	s.tried(a)
	s.await(issued, 2)
	if text := s.log.String(); strings.Contains(text, "accountDoesNotExist") {
		t.Errorf("the log says:\n%s", text)
	}
}

// listenAgain listens where it did before, as a restart does.
func (s *env) listenAgain() {
	s.Helper()
	l, err := net.Listen("tcp", s.l.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	s.l = l
}

// A restart orders nothing, and needs no authority.
func TestRestart(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, stop := s.acme(authority, ACMEConfig{})
	authority.Open(pebble.Config{TLSPort: s.port()})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	stop()
	authority.Stop()
	account := a.authorities[0].account

	s.l.Close()
	s.listenAgain()
	a, _ = s.acme(authority, ACMEConfig{})
	s.serve(a)
	s.run(a) // the client waits until the store was read
	if again := s.mustGet(domainOfTests, authority.Issued); !again.Equal(first) {
		t.Error("it is another certificate")
	}
	if status := a.Status()[0]; status.LastError != "" || strings.Contains(s.log.String(), "getting a certificate") {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.log)
	}
	if !account.(*ecdsa.PrivateKey).Equal(a.authorities[0].account) {
		t.Error("it is another account")
	}
}

// A certificate of one authority, such as one for staging, is not served when
// another is configured.
func TestOtherAuthority(t *testing.T) {
	t.Parallel()
	s, staging, production := newEnv(t), pebble.New(t), pebble.New(t)
	first, stop := s.acme(staging, ACMEConfig{})
	staging.Open(pebble.Config{TLSPort: s.port()})
	s.serve(first)
	s.tried(first)
	s.mustGet(domainOfTests, staging.Issued)
	stop()

	s.l.Close()
	s.listenAgain()
	second, _ := s.acme(production, ACMEConfig{})
	production.Open(pebble.Config{TLSPort: s.port()})
	s.serve(second)
	s.tried(second)
	s.mustGet(domainOfTests, production.Issued)
	if first.authorities[0].account.(*ecdsa.PrivateKey).Equal(second.authorities[0].account) {
		t.Error("both authorities know the same account key")
	}
}
