package delivery

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"teamdata/internal/netguard"
	"teamdata/store"
)

// public is an address that passes the guard; no test dials it.
const public = "93.184.216.34"

// Other ways to write 127.0.0.1 that some resolvers understand. Ours takes
// them for names; and if whoever answers those says 127.0.0.1, the guard sees
// that.
func TestSpellingsOfLoopback(t *testing.T) {
	t.Parallel()
	const noName, refused = "DNS: ", "address 127.0.0.1:"
	spellings := map[string]string{
		"2130706433": noName, "017700000001": noName, "127.1": noName, "0177.0.0.1": noName,
		"0x7f.1": refused, "0x7f000001": refused, "0X7F.0.0.1": refused,
		"127.0.0.1.": noName, "①②⑦.⓪.⓪.①": refused, "localtest.example": refused,
	}
	zone := map[string]string{}
	for spelling := range spellings {
		zone[strings.TrimSuffix(strings.ToLower(spelling), ".")] = "127.0.0.1"
	}
	b := newBench(t)
	target := newTrap(t)
	w := &witness{guard: netguard.New(netguard.Config{})}
	b.run(Config{RootCAs: trusted().roots(), Control: w.control, resolver: newNames(t, zone).resolver(), Schedule: []time.Duration{}})
	for spelling, want := range spellings {
		a := b.onlyAttempt(target.url(spelling), store.StateFailed)
		if !strings.HasPrefix(a.Reason, want) {
			t.Errorf("%s: the reason is %q, and should begin with %q", spelling, a.Reason, want)
		}
	}
	w.checkAgreed(t)
	target.checkUntouched(t)
}

// The machine's own name for itself, by the machine's resolver.
func TestLocalhost(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := newTrap(t)
	w := &witness{guard: netguard.New(netguard.Config{})}
	b.run(Config{RootCAs: trusted().roots(), Control: w.control, Schedule: []time.Duration{}})
	a := b.onlyAttempt(target.url("localhost"), store.StateFailed)
	if !strings.Contains(a.Reason, ":"+target.port+" refused: loopback") {
		t.Errorf("the reason is %q", a.Reason)
	}
	w.checkAgreed(t)
	target.checkUntouched(t)
}

// A name that is public at the first lookup and loopback at the second gains
// nothing: each attempt is judged by the address that it would dial.
func TestRebinding(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := newTrap(t)
	resolver := newNames(t, map[string]string{"rebind.example": public + " then 127.0.0.1"}).resolver()
	w := &witness{guard: netguard.New(netguard.Config{})}
	b.run(Config{RootCAs: trusted().roots(), Control: w.control, resolver: resolver, Schedule: []time.Duration{time.Millisecond}})
	d := b.awaitState(b.sendTest(b.endpoint(target.url("rebind.example")).ID).ID, store.StateFailed)
	if first := d.History[0].Reason; !strings.Contains(first, public) || !strings.Contains(first, errNotDialed.Error()) {
		t.Errorf("the first attempt ended with %q", first)
	}
	checkRefusal(t, d.History[1], netip.MustParseAddr("127.0.0.1"), target.port, "loopback range 127.0.0.0/8")
	w.checkAgreed(t, public)
	target.checkUntouched(t)
}

// Of a name with public and private addresses the private ones are never
// dialed, in whatever order they come.
func TestMixedAddresses(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := newTrap(t)
	resolver := newNames(t, map[string]string{
		"first.example": public + " 127.0.0.1", "last.example": "127.0.0.1 " + public,
		"both.example": "::1 " + public, "many.example": "10.0.0.1 127.0.0.1 " + public + " 169.254.169.254 192.168.0.1",
	}).resolver()
	w := &witness{guard: netguard.New(netguard.Config{})}
	b.run(Config{RootCAs: trusted().roots(), Control: w.control, resolver: resolver, Schedule: []time.Duration{}})
	for _, name := range []string{"first.example", "last.example", "both.example", "many.example"} {
		b.onlyAttempt(target.url(name), store.StateFailed)
	}
	w.checkAgreed(t, public)
	target.checkUntouched(t)
}

// Where a redirect leads is not even looked up.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := newTrap(t)
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Location", target.url("127.0.0.1"))
		code := map[string]int{"/301": 301, "/302": 302, "/303": 303, "/307": 307, "/308": 308}[q.URL.Path]
		w.WriteHeader(code)
	})
	b.run(Config{RootCAs: r.roots(), Schedule: []time.Duration{}})
	for path, code := range map[string]int{"/301": 301, "/302": 302, "/303": 303, "/307": 307, "/308": 308} {
		a := b.onlyAttempt(r.URL+path, store.StateFailed)
		_, want := answered(code)
		if a.Status != code || a.Reason != want || !strings.HasSuffix(want, "; redirects are not followed") {
			t.Errorf("status %d, reason %q, not %q", a.Status, a.Reason, want)
		}
		if r.next(t); len(r.got) > 0 {
			t.Errorf("%d: more than one request came", code)
		}
	}
	target.checkUntouched(t)
}
