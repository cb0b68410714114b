package acme_test

import (
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/pebble"
	"teamdata/server/certificates"
)

// While the first authority is down or limits us, the second one issues within a minute.
// The next certificate is asked of the first one again.
func TestSecondAuthority(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		config pebble.Config
		down   bool   // it refuses connections
		silent bool   // it accepts them, and never answers
		says   string // of the first
	}{
		"down":             {down: true, says: "connection refused"},
		"silent":           {silent: true, says: "not done within 25s"},
		"rate limited":     {config: pebble.Config{BusyOnce: 3 * time.Hour, BusyAt: pebble.Orders}, says: "answered 429"},
		"fails":            {config: pebble.Config{FailsAt: pebble.Orders}, says: "answered 500"},
		"fails at the end": {config: pebble.Config{FailsAt: pebble.Issues}, says: "answered 500"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.silent {
				kit.OnlyAtSize(t) // all of our patience
			}
			if strings.HasPrefix(name, "fails") {
				kit.NotEveryDay(t)
			}
			t.Parallel()
			s, first, second, now := newEnv(t), pebble.New(t), pebble.New(t), time.Now()
			a, _ := s.acme(first, certificates.ACMEConfig{Directories: []string{second.Directory}, Now: func() time.Time { return now }})
			test.config.TLSPort = s.Port()
			if !test.silent {
				first.Open(test.config)
			}
			second.Open(pebble.Config{TLSPort: s.Port()})
			if test.down {
				first.Stop()
			}
			s.Serve(a.TLS())
			began := time.Now()
			status := s.triedWithin(a, time.Minute)
			leaf := s.MustGet(domainOfTests, second.Issued)
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %v", took)
			}
			if status.Authority != second.Directory || status.LastError != "" || !status.NotAfter.Equal(leaf.NotAfter) {
				t.Errorf("the status is %+v", status)
			}
			said := true
			for _, words := range []string{test.says, `"authority":"` + first.Directory + `"`, `"authority":"` + second.Directory + `","message":"` + issued} {
				said = said && strings.Contains(s.Log.String(), words)
			}
			if !said {
				t.Errorf("the log says:\n%s", s.Log)
			}
			if s.kept(first, "account") == s.kept(second, "account") {
				t.Error("both authorities know the same account key")
			}

			switch {
			case test.down:
				first.Start()
			case test.silent:
				first.Open(pebble.Config{TLSPort: s.Port()})
			default:
				first.Reset(pebble.Config{TLSPort: s.Port()})
			}
			now = now.Add(afterRenewal)
			orders := second.Made(pebble.Orders)
			if status := s.tried(a); status.Authority != first.Directory || second.Made(pebble.Orders) != orders {
				t.Errorf("the next one is from %s; the log says:\n%s", status.Authority, s.Log)
			}
			s.MustGet(domainOfTests, first.Issued)
		})
	}
}

// A domain that the first authority can't reach is not offered to the second: it would
// not reach it either, and count the failure.
func TestSecondAuthorityIsNotAsked(t *testing.T) {
	t.Parallel()
	s, first, second, now := newEnv(t), pebble.New(t), pebble.New(t), time.Now()
	a, _ := s.acme(first, certificates.ACMEConfig{Directories: []string{second.Directory}, Now: func() time.Time { return now }})
	first.Open(pebble.Config{}) // it connects to a port where nothing listens
	second.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(a.TLS())
	for range 2 {
		if status := s.tried(a); !strings.Contains(status.LastError, "Failed to connect") || second.Calls.Load() != 0 {
			t.Errorf("%d calls; the status is %+v", second.Calls.Load(), status)
		}
		now = now.Add(2*time.Minute - 1)
	}
	if n := first.Made(pebble.Orders); n > 2 {
		t.Errorf("%d orders", n)
	}
}

// When no authority can give a certificate, each is asked again in its own time: one that
// can't be reached soon, and one that was, after its pauses.
func TestBothAuthoritiesFail(t *testing.T) {
	t.Parallel()
	s, first, second, now := newEnv(t), pebble.New(t), pebble.New(t), time.Now()
	a, _ := s.acme(first, certificates.ACMEConfig{Directories: []string{second.Directory}, Now: func() time.Time { return now }})
	first.Open(pebble.Config{TLSPort: s.Port(), BusyOnce: 3 * time.Hour, BusyAt: "/dir"})
	second.Open(pebble.Config{TLSPort: s.Port()})
	second.Stop()
	s.Serve(a.TLS())
	if status := s.tried(a); !strings.Contains(status.LastError, "connection refused") || !strings.Contains(s.Log.String(), "answered 429") {
		t.Errorf("the status is %+v; the log says:\n%s", status, s.Log)
	}
	second.Start()
	now = now.Add(5 * time.Second)
	calls := first.Calls.Load()
	if status := s.tried(a); status.Authority != second.Directory || first.Calls.Load() != calls {
		t.Errorf("the first got %d calls too soon; the status is %+v", first.Calls.Load()-calls, status)
	}
	s.MustGet(domainOfTests, second.Issued)
}

// After a restart the newest certificate is served, whichever authority gave it.
func TestRestartWithSecond(t *testing.T) {
	t.Parallel()
	s, first, second := newEnv(t), pebble.New(t), pebble.New(t)
	config := certificates.ACMEConfig{Directories: []string{second.Directory}}
	s.keepExpired(first)
	a, stop := s.acme(first, config)
	first.Open(pebble.Config{})
	first.Stop()
	second.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(a.TLS())
	s.tried(a)
	leaf := s.MustGet(domainOfTests, second.Issued)
	stop()
	s.ListenAgain()
	a, _ = s.acme(first, config)
	s.Serve(a.TLS())
	if again := s.MustGet(domainOfTests, second.Issued); !again.Equal(leaf) {
		t.Error("it is another certificate")
	}
	if status := a.Status()[0]; status.Authority != second.Directory {
		t.Errorf("the status is %+v", status)
	}
}
