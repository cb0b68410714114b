package acme_test

import (
	"crypto/x509"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/site"
	"teamdata/server/certificates"
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
	a, _ := s.acme(authority, certificates.ACMEConfig{Now: func() time.Time { return now }})
	authority.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(a.TLS())
	s.tried(a)
	first := s.MustGet(domainOfTests, authority.Issued)
	stop := s.Load(domainOfTests, authority.Issued)
	for n := range 3 {
		now = now.Add(afterRenewal)
		s.tried(a)
		if seen := strings.Count(s.Log.String(), issued); seen != n+2 {
			t.Fatalf("%d certificates instead of %d, after %d calls; the status is %+v", seen, n+2, authority.Calls.Load(), a.Status()[0])
		}
	}
	if s.MustGet(domainOfTests, authority.Issued).SerialNumber.Cmp(first.SerialNumber) == 0 {
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
			a, _ := s.acme(authority, certificates.ACMEConfig{Now: func() time.Time { return now }})
			authority.Open(pebble.Config{TLSPort: s.Port(), Life: life})
			s.Serve(a.TLS())
			if status := s.tried(a); !strings.Contains(status.LastError, "by this machine's clock") {
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
	gone, watch := make(chan struct{}), new(sync.Once)
	a, _ := s.acme(authority, certificates.ACMEConfig{Now: func() time.Time { return now }, Attempted: func(m *autocert.Manager) {
		watch.Do(func() { runtime.AddCleanup(m, func(gone chan struct{}) { close(gone) }, gone) })
	}})
	authority.Open(pebble.Config{TLSPort: s.Port(), Life: 4 * time.Second}) // the timer fires within two
	s.Serve(a.TLS())
	s.tried(a)
	now = now.Add(afterRenewal)
	s.tried(a)
	collect := time.NewTicker(50 * time.Millisecond)
	defer collect.Stop()
	for late := time.After(site.Patience / 3); ; {
		select {
		case <-gone:
			if n := strings.Count(s.Log.String(), issued); n != 2 {
				t.Errorf("%d certificates were issued", n)
			}
			return
		case <-collect.C:
			runtime.GC()
		case <-late:
			t.Fatalf("autocert's manager is still there, after %d calls; the log says:\n%s", authority.Calls.Load(), s.Log)
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
			config := certificates.ACMEConfig{Now: func() time.Time { return now }}
			a, stop := s.acme(authority, config)
			authority.Open(pebble.Config{TLSPort: s.Port()})
			s.Serve(a.TLS())
			s.tried(a)
			authority.Stop()
			now = now.Add(afterRenewal)
			status, last := s.tried(a), s.MustGet(domainOfTests, authority.Issued)
			if !strings.Contains(status.LastError, "connection refused") || status.LastErrorAt.IsZero() || !status.NotAfter.Equal(last.NotAfter) {
				t.Errorf("the status is %+v", status)
			}
			authority.Start()
			if now = now.Add(5 * time.Second); restart {
				stop()
				s.ListenAgain()
				a, _ = s.acme(authority, config)
				s.Serve(a.TLS())
			}
			s.tried(a)
			if s.MustGet(domainOfTests, authority.Issued).SerialNumber.Cmp(last.SerialNumber) == 0 {
				t.Errorf("the old certificate is still served; the log says:\n%s", s.Log)
			}
		})
	}
}

// A restart serves an expired certificate, as it was served before: some clients
// look past that. The authority is asked again within seconds.
func TestRestartWithExpired(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	authority.Open(pebble.Config{TLSPort: s.Port()})
	authority.Stop()
	s.keepExpired(authority)
	a, _ := s.acme(authority, certificates.ACMEConfig{Now: func() time.Time { return now }})
	s.Serve(a.TLS())
	s.tried(a)
	var expired x509.CertificateInvalidError
	if _, err := s.Get(domainOfTests, authority.Issued); !errors.As(err, &expired) || expired.Reason != x509.Expired {
		t.Errorf("the client says: %v", err)
	}
	status := a.Status()[0]
	if !strings.Contains(status.LastError, "connection refused") || !status.NotAfter.Before(now) || status.NotAfter.IsZero() {
		t.Errorf("the status is %+v", status)
	}
	authority.Start()
	now = now.Add(10 * time.Second)
	s.tried(a)
	s.MustGet(domainOfTests, authority.Issued)
}

// No call is made before the time that the authority asked for, not even for another
// challenge.
func TestRetryAfter(t *testing.T) {
	for path, made := range map[string]int64{"/dir": 1, "/chalZ/": 6} { // with nonce, account, order, authorization
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			s, authority, now := newEnv(t), pebble.New(t), time.Now()
			a, _ := s.acme(authority, certificates.ACMEConfig{HTTP01: true, Now: func() time.Time { return now }})
			authority.Open(pebble.Config{TLSPort: s.Port(), BusyOnce: 3 * time.Hour, BusyAt: path})
			s.Serve(a.TLS())
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
			s.MustGet(domainOfTests, authority.Issued)
		})
	}
}

// An account that the authority forgot is made anew without a restart, whether a clock
// or a timer starts the renewal.
func TestAccountIsForgotten(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	a, _ := s.acme(authority, certificates.ACMEConfig{Now: func() time.Time { return now }})
	c := pebble.Config{TLSPort: s.Port(), Life: 4 * time.Second}
	authority.Open(c)
	s.Serve(a.TLS())
	s.tried(a)
	authority.Reset(c)
	now = now.Add(afterRenewal)
	s.tried(a)
	s.Await(issued, 2)
	if text := s.Log.String(); strings.Contains(text, "accountDoesNotExist") {
		t.Errorf("the log says:\n%s", text)
	}
}

// A restart orders nothing, and needs no authority.
func TestRestart(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), pebble.New(t)
	a, stop := s.acme(authority, certificates.ACMEConfig{})
	authority.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(a.TLS())
	s.tried(a)
	first := s.MustGet(domainOfTests, authority.Issued)
	stop()
	authority.Stop()
	account := s.kept(authority, "account")

	s.ListenAgain()
	a, _ = s.acme(authority, certificates.ACMEConfig{})
	s.Serve(a.TLS())
	a.Refresh(t.Context()) // the client waits until the store was read
	if again := s.MustGet(domainOfTests, authority.Issued); !again.Equal(first) {
		t.Error("it is another certificate")
	}
	if status := a.Status()[0]; status.LastError != "" || strings.Contains(s.Log.String(), "getting a certificate") {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.Log)
	}
	if s.kept(authority, "account") != account {
		t.Error("it is another account")
	}
}

// A certificate of one authority, such as one for staging, is not served when
// another is configured.
func TestOtherAuthority(t *testing.T) {
	t.Parallel()
	s, staging, production := newEnv(t), pebble.New(t), pebble.New(t)
	first, stop := s.acme(staging, certificates.ACMEConfig{})
	staging.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(first.TLS())
	s.tried(first)
	s.MustGet(domainOfTests, staging.Issued)
	stop()

	s.ListenAgain()
	second, _ := s.acme(production, certificates.ACMEConfig{})
	production.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(second.TLS())
	s.tried(second)
	s.MustGet(domainOfTests, production.Issued)
	if s.kept(staging, "account") == s.kept(production, "account") {
		t.Error("both authorities know the same account key")
	}
}
