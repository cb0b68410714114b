package certificates

import (
	"crypto/x509"
	"fmt"
	"math/big"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit/pebble"
	"teamdata/store"
)

// asked refreshes until the authority was asked n times in all when to renew, and the
// answers were taken.
func (s *env) asked(a *ACME, authority *pebble.Authority, n int) store.CertificateStatus {
	s.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); ; {
		a.Refresh(s.Context())
		d := a.domains[0]
		d.mu.Lock()
		asking := d.renewal.asking
		d.mu.Unlock()
		if authority.Made(pebble.Asked) >= n && !asking {
			return a.Status()[0]
		}
		select {
		case <-look.C:
		case <-late:
			s.Fatalf("it was asked %d times of %d; the log says:\n%s", authority.Made(pebble.Asked), n, s.log)
		}
	}
}

// A certificate is renewed in the window that the authority names, neither before the
// moment in it that was chosen nor much later. The authority is asked again when it said,
// and may bring the window forward, as it does when it has to revoke.
func TestRenewalInWindow(t *testing.T) {
	t.Parallel()
	s, authority, now := newEnv(t), pebble.New(t), time.Now()
	config := ACMEConfig{Now: func() time.Time { return now }}
	a, stop := s.acme(authority, config)
	authority.Open(pebble.Config{TLSPort: s.port()})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	from, until := now.Add(20*day).Truncate(time.Second), now.Add(22*day).Truncate(time.Second)
	authority.SuggestWindow(first, from, until)
	at := s.asked(a, authority, 1).NextRenewal
	if at.Before(from) || !at.Before(until) {
		t.Fatalf("it is renewed %v, outside of %v to %v", at, from, until)
	}
	if text := s.log.String(); !strings.Contains(text, "https://acme.test/why") {
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
	s.l.Close()
	s.listenAgain()
	a, _ = s.acme(authority, config)
	s.serve(a)
	if again := s.asked(a, authority, 3).NextRenewal; !again.Equal(at) {
		t.Errorf("after a restart it is renewed %v, not %v", again, at)
	}
	now = at.Add(-1)
	s.asked(a, authority, 4)
	if !s.mustGet(domainOfTests, authority.Issued).Equal(first) || authority.Made(pebble.Orders) != 1 {
		t.Error("it was renewed before the moment")
	}
	now = at
	s.tried(a)
	second := s.mustGet(domainOfTests, authority.Issued)
	if second.Equal(first) {
		t.Fatalf("it was not renewed; the log says:\n%s", s.log)
	}

	asked := authority.Made(pebble.Asked)
	s.asked(a, authority, asked+1)
	authority.SuggestWindow(second, now.Add(-2*time.Hour), now.Add(-time.Hour))
	now = now.Add(6 * time.Hour)
	s.asked(a, authority, asked+2)
	s.tried(a)
	if s.mustGet(domainOfTests, authority.Issued).Equal(second) {
		t.Errorf("it was not renewed when the window was brought forward; the log says:\n%s", s.log)
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
		"no JSON":      {"<html>", pebble.Config{}, 60 * day, "answered something else"},
		"no window":    {"{}", pebble.Config{}, 60 * day, "a window from"},
		"backwards":    {window(20*day, 19*day), pebble.Config{}, 60 * day, "a window from"},
		"long ago":     {window(-20*day, -19*day), pebble.Config{}, day, ""},
		"after it":     {window(100*day, 101*day), pebble.Config{}, 75 * day, ""},
		"much too big": {`{"suggestedWindow":{"start":"0001-01-02T00:00:00Z","end":"9999-12-31T00:00:00Z"}}`, pebble.Config{}, day, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, authority := newEnv(t), pebble.New(t)
			a, _ := s.acme(authority, ACMEConfig{})
			test.config.TLSPort = s.port()
			authority.Open(test.config)
			s.serve(a)
			s.tried(a)
			leaf := s.mustGet(domainOfTests, authority.Issued)
			if test.answer != "" {
				authority.Suggest(leaf, test.answer)
			}
			calls := authority.Calls.Load()
			a.Refresh(t.Context())
			s.answered(a)
			if authority.Calls.Load() == calls {
				t.Error("the authority was not asked")
			}
			at := a.Status()[0].NextRenewal.Sub(leaf.NotBefore)
			if off := at - test.want; off.Abs() > time.Minute {
				t.Errorf("it is renewed after %v, not after %v", at, test.want)
			}
			if said := strings.Contains(s.log.String(), "can't be asked when to renew"); said != (test.says != "") || !strings.Contains(s.log.String(), test.says) {
				t.Errorf("the log says:\n%s", s.log)
			}
			calls = authority.Calls.Load()
			if a.Refresh(t.Context()); a.domains[0].renewal.asking || authority.Calls.Load() != calls {
				t.Error("the authority is asked again at once")
			}
		})
	}
}

// answered returns when no question is open.
func (s *env) answered(a *ACME) {
	s.Helper()
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); ; {
		d := a.domains[0]
		d.mu.Lock()
		asking := d.renewal.asking
		d.mu.Unlock()
		if !asking {
			return
		}
		select {
		case <-look.C:
		case <-late:
			s.Fatalf("there is no answer; the log says:\n%s", s.log)
		}
	}
}

// Certificates are renewed all over the window, so that not all come at once.
func TestMoment(t *testing.T) {
	now := time.Now()
	w := window{Start: now.Add(20 * day), End: now.Add(24 * day)}
	quarters := map[time.Duration]int{}
	const n = 400
	for i := range n {
		c := &x509.Certificate{Raw: fmt.Append(nil, i), NotBefore: now, NotAfter: now.Add(90 * day)}
		at := w.moment(c)
		if at.Before(w.Start) || !at.Before(w.End) {
			t.Fatalf("%v is not in the window", at)
		}
		quarters[at.Sub(w.Start)/day]++
	}
	for i := range time.Duration(4) {
		if quarters[i] < n/8 {
			t.Errorf("%d of %d are in quarter %d", quarters[i], n, i+1)
		}
	}
}

// The name of a certificate is RFC 9773's for its example.
func TestRenewalID(t *testing.T) {
	key := []byte{0x69, 0x88, 0x5b, 0x6b, 0x87, 0x46, 0x40, 0x41, 0xe1, 0xb3, 0x7b, 0x84, 0x7b, 0xa0, 0xae, 0x2c, 0xde, 0x01, 0xc8, 0xd4}
	for serial, want := range map[int64]string{0x87654321: "AIdlQyE", 0x7654321: "B2VDIQ"} {
		id, err := renewalID(&x509.Certificate{AuthorityKeyId: key, SerialNumber: big.NewInt(serial)})
		if err != nil || id != "aYhba4dGQEHhs3uEe6CuLN4ByNQ."+want {
			t.Errorf("%x: %s, %v", serial, id, err)
		}
	}
	if id, err := renewalID(&x509.Certificate{SerialNumber: big.NewInt(1)}); err == nil {
		t.Errorf("without its issuer's key it is %s", id)
	}
}

// All nodes renew at the same moment in the window, by one order.
func TestWindowOverNodes(t *testing.T) {
	t.Parallel()
	authority, now := pebble.New(t), new(atomic.Int64)
	n := newCluster(t, authority, ACMEConfig{Now: func() time.Time { return time.Now().Add(time.Duration(now.Load())) }})
	tlsPort, _ := n.serve()
	authority.Open(pebble.Config{TLSPort: tlsPort})
	n.refreshUntil(func(a *ACME) bool { return !a.Status()[0].NotAfter.IsZero() })
	leaf := n.shows(n.all[0], authority.Issued)
	authority.SuggestWindow(leaf, leaf.NotBefore.Add(20*day), leaf.NotBefore.Add(21*day))
	now.Store(int64(12 * time.Hour)) // they may have asked before
	n.refreshUntil(func(a *ACME) bool { return a.Status()[0].NextRenewal.Before(leaf.NotBefore.Add(30 * day)) })
	at := n.all[0].Status()[0].NextRenewal
	for _, a := range n.all[1:] {
		if other := a.Status()[0].NextRenewal; !other.Equal(at) {
			t.Errorf("one node renews %v, another %v", at, other)
		}
	}
	<-time.After(time.Until(leaf.NotBefore.Add(time.Second))) // certificates have whole seconds
	now.Store(int64(time.Until(at)))
	n.refreshUntil(func(a *ACME) bool { return !n.shows(a, authority.Issued).Equal(leaf) })
	if orders, issues := authority.Made(pebble.Orders), authority.Made(pebble.Issues); orders != 2 || issues != 2 {
		t.Errorf("%d orders and %d certificates", orders, issues)
	}
}

// refreshUntil refreshes all nodes until each is as wanted.
func (n *cluster) refreshUntil(wanted func(a *ACME) bool) {
	n.Helper()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for late := time.After(patience); ; {
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
