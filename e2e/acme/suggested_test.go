package acme_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit/pebble"
	"teamdata/e2e/kit/site"
	"teamdata/server/certificates"
	"teamdata/store"
)

// asked refreshes, after which the authority was asked n times in all when to renew, and the
// answers were taken.
func (s *env) asked(a *certificates.ACME, authority *pebble.Authority, n int) store.CertificateStatus {
	s.Helper()
	status := s.tried(a)
	if got := authority.Made(pebble.Asked); got < n {
		s.Fatalf("it was asked %d times of %d; the log says:\n%s", got, n, s.Log)
	}
	return status
}

// A certificate is renewed in the window that the authority names, neither before the
// moment in it that was chosen nor much later. The authority is asked again when it said,
// and may bring the window forward, as it does when it has to revoke.
func TestRenewalInWindow(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	config := certificates.ACMEConfig{Now: func() time.Time { return now }}
	a, stop := s.acme(authority, config)
	authority.Open(pebble.Config{TLSPort: s.Port()})
	s.Serve(a.TLS())
	s.tried(a)
	first := s.MustGet(domainOfTests, authority.Issued)
	from, until := now.Add(20*day).Truncate(time.Second), now.Add(22*day).Truncate(time.Second)
	authority.SuggestWindow(first, from, until)
	at := s.asked(a, authority, 1).NextRenewal
	if at.Before(from) || !at.Before(until) {
		t.Fatalf("it is renewed %v, outside of %v to %v", at, from, until)
	}
	if text := s.Log.String(); !strings.Contains(text, "https://acme.test/why") {
		t.Errorf("the authority's explanation is not in the log:\n%s", text)
	}
	calls := authority.Calls.Load()
	now = now.Add(6*time.Hour - 1) // Pebble wants to be asked every six hours
	if s.tried(a); authority.Calls.Load() != calls {
		t.Error("the authority was asked before its time")
	}
	now = now.Add(1)
	if again := s.asked(a, authority, 2).NextRenewal; !again.Equal(at) {
		t.Errorf("the same window has another moment: %v, not %v", again, at)
	}

	stop()
	s.ListenAgain()
	a, _ = s.acme(authority, config)
	s.Serve(a.TLS())
	if again := s.asked(a, authority, 3).NextRenewal; !again.Equal(at) {
		t.Errorf("after a restart it is renewed %v, not %v", again, at)
	}
	now = at.Add(-1)
	s.asked(a, authority, 4)
	if !s.MustGet(domainOfTests, authority.Issued).Equal(first) || authority.Made(pebble.Orders) != 1 {
		t.Error("it was renewed before the moment")
	}
	now = at
	s.tried(a)
	second := s.MustGet(domainOfTests, authority.Issued)
	if second.Equal(first) {
		t.Fatalf("it was not renewed; the log says:\n%s", s.Log)
	}

	asked := authority.Made(pebble.Asked)
	s.asked(a, authority, asked+1)
	authority.SuggestWindow(second, now.Add(-2*time.Hour), now.Add(-time.Hour))
	now = now.Add(6 * time.Hour)
	s.asked(a, authority, asked+2)
	s.tried(a)
	if s.MustGet(domainOfTests, authority.Issued).Equal(second) {
		t.Errorf("it was not renewed when the window was brought forward; the log says:\n%s", s.Log)
	}
}

// Whatever an authority answers, or if it can't be asked, a certificate is renewed in
// time, and not on its first day.
func TestSuggestionIsOfNoUse(t *testing.T) {
	window := func(from, until time.Duration) string { // from now on
		text := func(d time.Duration) string { return time.Now().Add(d).Format(time.RFC3339) }
		return fmt.Sprintf(`{"suggestedWindow":{"start":%q,"end":%q}}`, text(from), text(until))
	}
	for name, test := range map[string]struct {
		answer string
		config pebble.Config
		want   time.Duration // of 90 days
		says   string
	}{
		"no ARI":       {"", pebble.Config{NoARI: true}, 60 * day, ""},
		"not found":    {"", pebble.Config{FailsAt: pebble.Asked}, 60 * day, "answered 500"},
		"no JSON":      {"<html>", pebble.Config{}, 60 * day, "answered with something else"},
		"no window":    {"{}", pebble.Config{}, 60 * day, "the window from"},
		"backwards":    {window(20*day, 19*day), pebble.Config{}, 60 * day, "the window from"},
		"long ago":     {window(-20*day, -19*day), pebble.Config{}, day, ""},
		"after it":     {window(100*day, 101*day), pebble.Config{}, 75 * day, ""},
		"much too big": {`{"suggestedWindow":{"start":"0001-01-02T00:00:00Z","end":"9999-12-31T00:00:00Z"}}`, pebble.Config{}, day, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, authority := newEnv(t), pebble.New(t)
			a, _ := s.acme(authority, certificates.ACMEConfig{})
			test.config.TLSPort = s.Port()
			authority.Open(test.config)
			s.Serve(a.TLS())
			s.tried(a)
			leaf := s.MustGet(domainOfTests, authority.Issued)
			if test.answer != "" {
				authority.Suggest(leaf, test.answer)
			}
			calls := authority.Calls.Load()
			if s.tried(a); authority.Calls.Load() == calls {
				t.Error("the authority was not asked")
			}
			at := a.Status()[0].NextRenewal.Sub(leaf.NotBefore)
			if off := at - test.want; off.Abs() > time.Minute {
				t.Errorf("it is renewed after %v, not after %v", at, test.want)
			}
			if said := strings.Contains(s.Log.String(), "can't be asked when to renew"); said != (test.says != "") || !strings.Contains(s.Log.String(), test.says) {
				t.Errorf("the log says:\n%s", s.Log)
			}
			calls = authority.Calls.Load()
			if s.tried(a); authority.Calls.Load() != calls {
				t.Error("the authority is asked again at once")
			}
		})
	}
}

// All nodes renew at the same moment in the window, by one order.
func TestWindowOverNodes(t *testing.T) {
	t.Parallel()
	authority, now := pebble.New(t), new(atomic.Int64)
	n := newCluster(t, authority, certificates.ACMEConfig{Now: func() time.Time { return time.Now().Add(time.Duration(now.Load())) }})
	tlsPort, _ := n.serve()
	authority.Open(pebble.Config{TLSPort: tlsPort})
	n.refreshUntil(func(a *certificates.ACME) bool { return !a.Status()[0].NotAfter.IsZero() })
	leaf := n.shows(n.all[0], authority.Issued)
	// Each has asked before the clock moves: an answer that comes after it counts from then.
	n.refreshUntil(func(a *certificates.ACME) bool {
		return (a.Status()[0].NextRenewal.Sub(leaf.NotBefore) - 60*day).Abs() > time.Minute
	})
	authority.SuggestWindow(leaf, leaf.NotBefore.Add(20*day), leaf.NotBefore.Add(21*day))
	now.Store(int64(12 * time.Hour))
	n.refreshUntil(func(a *certificates.ACME) bool { return a.Status()[0].NextRenewal.Before(leaf.NotBefore.Add(30 * day)) })
	at := n.all[0].Status()[0].NextRenewal
	for _, a := range n.all[1:] {
		if other := a.Status()[0].NextRenewal; !other.Equal(at) {
			t.Errorf("one node renews %v, another %v", at, other)
		}
	}
	<-time.After(time.Until(leaf.NotBefore.Add(time.Second))) // certificates have whole seconds
	now.Store(int64(time.Until(at)))
	n.refreshUntil(func(a *certificates.ACME) bool { return !n.shows(a, authority.Issued).Equal(leaf) })
	if orders, issues := authority.Made(pebble.Orders), authority.Made(pebble.Issues); orders != 2 || issues != 2 {
		t.Errorf("%d orders and %d certificates", orders, issues)
	}
}

// refreshUntil refreshes all nodes until each is as wanted.
func (n *cluster) refreshUntil(wanted func(a *certificates.ACME) bool) {
	n.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(site.Patience); ; {
		all := true
		for _, a := range n.all {
			a.Refresh(n.Context())
			all = all && wanted(a)
		}
		if all {
			return
		}
		select {
		case <-look.C:
		case <-late:
			n.Fatalf("not all nodes got there; the log says:\n%s", n.log)
		}
	}
}
