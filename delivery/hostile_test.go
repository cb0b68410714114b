package delivery

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"teamdata/internal/netguard"
	"teamdata/store"
)

// hostile are hosts of URLs to which no webhook may go: the address that is meant,
// the rule that the reason must name, and the range that allows it.
var hostile = []struct{ host, addr, rule, cidr string }{
	{"127.0.0.1", "127.0.0.1", "loopback range 127.0.0.0/8", "127.0.0.0/8"},
	{"127.9.9.9", "127.9.9.9", "loopback range 127.0.0.0/8", "127.9.9.9"},
	{"[::1]", "::1", "loopback address outside global unicast", "::1"},
	{"0.0.0.0", "0.0.0.0", "unspecified range 0.0.0.0/8", "0.0.0.0/8"},
	{"[::]", "::", "unspecified address outside global unicast", "::"},
	{"10.0.0.1", "10.0.0.1", "private range 10.0.0.0/8", "10.0.0.0/8"},
	{"172.16.0.1", "172.16.0.1", "private range 172.16.0.0/12", "172.16.0.0/12"},
	{"172.31.255.255", "172.31.255.255", "private range 172.16.0.0/12", "172.16.0.0/12"},
	{"192.168.1.1", "192.168.1.1", "private range 192.168.0.0/16", "192.168.0.0/16"},
	{"[fc00::1]", "fc00::1", "private address outside global unicast", "fc00::/7"},
	{"[fd12:3456::1]", "fd12:3456::1", "private address outside global unicast", "fd12:3456::/32"},
	{"100.64.0.1", "100.64.0.1", "range 100.64.0.0/10", "100.64.0.0/10"},
	{"169.254.7.7", "169.254.7.7", "link-local range 169.254.0.0/16", "169.254.0.0/16"},
	{"[fe80::1]", "fe80::1", "link-local address outside global unicast", "fe80::/10"},
	{"169.254.169.254", "169.254.169.254", "cloud metadata address", "169.254.169.254"},
	{"[fd00:ec2::254]", "fd00:ec2::254", "cloud metadata address", "fd00:ec2::/64"},
	{"100.100.100.200", "100.100.100.200", "cloud metadata address", "100.100.100.200"},
	{"192.0.0.192", "192.0.0.192", "cloud metadata address", "192.0.0.0/24"},
	{"168.63.129.16", "168.63.129.16", "cloud metadata address", "168.63.129.16"},
	{"[::ffff:127.0.0.1]", "127.0.0.1", "loopback range 127.0.0.0/8", "127.0.0.0/8"},
	{"[::ffff:a00:1]", "10.0.0.1", "private range 10.0.0.0/8", "10.0.0.0/8"},
	{"[::ffff:169.254.169.254]", "169.254.169.254", "cloud metadata address", "169.254.169.254"},
	{"[::127.0.0.1]", "::7f00:1", "outside global unicast", "::/96"},
	{"[64:ff9b::7f00:1]", "64:ff9b::7f00:1", "outside global unicast", "64:ff9b::/96"},
	{"[64:ff9b::a00:1]", "64:ff9b::a00:1", "outside global unicast", "64:ff9b::/96"},
	{"[64:ff9b:1::7f00:1]", "64:ff9b:1::7f00:1", "outside global unicast", "64:ff9b:1::/48"},
	{"[2002:7f00:1::]", "2002:7f00:1::", "range 2002::/16", "2002::/16"},
	{"[2001:0:7f00:1::1]", "2001:0:7f00:1::1", "range 2001::/23", "2001::/32"},
	{"[fec0::1]", "fec0::1", "outside global unicast", "fec0::/10"},
	{"224.0.0.1", "224.0.0.1", "multicast range 224.0.0.0/4", "224.0.0.0/4"},
	{"[ff02::1]", "ff02::1", "multicast address outside global unicast", "ff00::/8"},
	{"255.255.255.255", "255.255.255.255", "range 240.0.0.0/4", "255.255.255.255"},
	{"192.0.2.1", "192.0.2.1", "range 192.0.2.0/24", "192.0.2.0/24"},
	{"198.51.100.1", "198.51.100.1", "range 198.51.100.0/24", "198.51.100.0/24"},
	{"203.0.113.1", "203.0.113.1", "range 203.0.113.0/24", "203.0.113.0/24"},
	{"[2001:db8::1]", "2001:db8::1", "range 2001:db8::/32", "2001:db8::/32"},
	{"[3fff::1]", "3fff::1", "range 3fff::/20", "3fff::/20"},
	{"198.18.0.1", "198.18.0.1", "range 198.18.0.0/15", "198.18.0.0/15"},
	{"[2001:2::1]", "2001:2::1", "range 2001::/23", "2001:2::/48"},
	{"240.0.0.1", "240.0.0.1", "range 240.0.0.0/4", "240.0.0.0/4"},
	{"[5f00::1]", "5f00::1", "outside global unicast", "5f00::/16"},
}

// A refused address is one failed attempt that says why, and no connection is made.
func TestHostileTargets(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	target := newTrap(t)
	w := &recordingGuard{guard: netguard.New(netguard.Config{})}
	env.run(Config{RootCAs: trusted().roots(), Control: w.control, Schedule: []time.Duration{}})
	var urls []string
	for _, test := range hostile {
		urls = append(urls, target.url(test.host))
	}
	deliveries := env.sendToAll(urls)
	for i, test := range hostile {
		t.Run(test.host, func(t *testing.T) {
			addr := netip.MustParseAddr(test.addr)
			if addr.Is6() {
				needsIPv6(t)
			}
			a := env.of(t).onlyAttemptOf(deliveries[i], store.StateFailed)
			checkRefusal(t, a, addr, target.port, test.rule)
		})
	}
	w.checkPassed(t)
	target.checkUntouched(t)
}

func checkRefusal(t *testing.T, a store.Attempt, addr netip.Addr, port, rule string) {
	t.Helper()
	named := "address " + addr.String() + ":" + port
	if addr.Is6() {
		named = "address [" + addr.String() + "]:" + port
	}
	if !strings.HasPrefix(a.Reason, named+" refused: ") || !strings.Contains(a.Reason, rule) {
		t.Errorf("the reason %q does not name %s and the rule %q", a.Reason, named, rule)
	}
	if a.Status != 0 || a.TimedOut {
		t.Errorf("the attempt has status %d, and timed out: %t", a.Status, a.TimedOut)
	}
}

// Each address passes when its range is allowed: receivers on this machine get the
// delivery, and any other would be dialed.
func TestAllowedTargets(t *testing.T) {
	t.Parallel()
	target := newTrap(t)
	for _, test := range hostile {
		t.Run(test.host, func(t *testing.T) {
			t.Parallel()
			addr := netip.MustParseAddr(test.addr)
			if addr.Is6() {
				needsIPv6(t)
			}
			allow, err := netguard.ParseCIDRs([]string{test.cidr})
			if err != nil {
				t.Fatal(err)
			}
			w := &recordingGuard{guard: netguard.New(netguard.Config{Allow: allow})}
			a := sendOnce(t, target.url(test.host), Config{RootCAs: trusted().roots(), Control: w.control})
			w.checkPassed(t, test.addr)
			switch {
			case (target.isAt(test.addr) || addr.IsUnspecified()) && !a.Acknowledged():
				t.Errorf("it is allowed and there, but: %s", a.Reason)
			case !addr.IsLoopback() && !addr.IsUnspecified() && !strings.Contains(a.Reason, errNotDialed.Error()):
				t.Errorf("it was dialed: %s", a.Reason)
			}
		})
	}
}

// Our own listeners are refused whatever is allowed; other listeners on this machine
// are not.
func TestOwnListenersAreRefused(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	api, admin, beside := newTrap(t), newTrap(t), newTrap(t)
	own := append(append([]netip.AddrPort{}, api.addrs...), admin.addrs...)
	guard := netguard.New(netguard.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
		Own:   func() []netip.AddrPort { return own },
	})
	env.run(Config{RootCAs: trusted().roots(), Control: guard.Control, Schedule: []time.Duration{}})
	for _, listener := range []*trap{api, admin} {
		for _, addr := range listener.addrs {
			a := env.onlyAttempt(fmt.Sprintf("https://%s/hook", addr), store.StateFailed)
			checkRefusal(t, a, addr.Addr(), listener.port, "one of this server's own listeners")
		}
		a := env.onlyAttempt(listener.url("0.0.0.0"), store.StateFailed)
		checkRefusal(t, a, netip.IPv4Unspecified(), listener.port, "one of this server's own listeners")
		listener.checkUntouched(t)
	}
	for _, addr := range beside.addrs {
		env.onlyAttempt(fmt.Sprintf("https://%s/hook", addr), store.StateAcknowledged)
	}
}

// public is an address that passes the guard; no test dials it.
const public = "93.184.216.34"

// Other ways to write 127.0.0.1 that some resolvers understand. Ours takes
// them for names; and if a name server answers those with 127.0.0.1, the guard
// refuses that.
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
	env := newEnv(t)
	target := newTrap(t)
	w := &recordingGuard{guard: netguard.New(netguard.Config{})}
	env.run(Config{RootCAs: trusted().roots(), Control: w.control, resolver: newNames(t, zone).resolver(), Schedule: []time.Duration{}})
	for spelling, want := range spellings {
		a := env.onlyAttempt(target.url(spelling), store.StateFailed)
		if !strings.HasPrefix(a.Reason, want) {
			t.Errorf("%s: the reason is %q, and should begin with %q", spelling, a.Reason, want)
		}
	}
	w.checkPassed(t)
	target.checkUntouched(t)
}

// The machine's own name for itself, by the machine's resolver.
func TestLocalhost(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	target := newTrap(t)
	w := &recordingGuard{guard: netguard.New(netguard.Config{})}
	env.run(Config{RootCAs: trusted().roots(), Control: w.control, Schedule: []time.Duration{}})
	a := env.onlyAttempt(target.url("localhost"), store.StateFailed)
	if !strings.Contains(a.Reason, ":"+target.port+" refused: loopback") {
		t.Errorf("the reason is %q", a.Reason)
	}
	w.checkPassed(t)
	target.checkUntouched(t)
}

// A name that is public at the first lookup and loopback at the second gains
// nothing: each attempt is judged by the address that it would dial.
func TestRebinding(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	target := newTrap(t)
	resolver := newNames(t, map[string]string{"rebind.example": public + " then 127.0.0.1"}).resolver()
	w := &recordingGuard{guard: netguard.New(netguard.Config{})}
	env.run(Config{RootCAs: trusted().roots(), Control: w.control, resolver: resolver, Schedule: []time.Duration{time.Millisecond}})
	d := env.awaitState(env.sendTest(env.endpoint(target.url("rebind.example")).ID).ID, store.StateFailed)
	if first := d.History[0].Reason; !strings.Contains(first, public) || !strings.Contains(first, errNotDialed.Error()) {
		t.Errorf("the first attempt ended with %q", first)
	}
	checkRefusal(t, d.History[1], netip.MustParseAddr("127.0.0.1"), target.port, "loopback range 127.0.0.0/8")
	w.checkPassed(t, public)
	target.checkUntouched(t)
}

// Of a name with public and private addresses the private ones are never
// dialed, in whatever order they come.
func TestMixedAddresses(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	target := newTrap(t)
	resolver := newNames(t, map[string]string{
		"first.example": public + " 127.0.0.1", "last.example": "127.0.0.1 " + public,
		"both.example": "::1 " + public, "many.example": "10.0.0.1 127.0.0.1 " + public + " 169.254.169.254 192.168.0.1",
	}).resolver()
	w := &recordingGuard{guard: netguard.New(netguard.Config{})}
	env.run(Config{RootCAs: trusted().roots(), Control: w.control, resolver: resolver, Schedule: []time.Duration{}})
	for _, name := range []string{"first.example", "last.example", "both.example", "many.example"} {
		env.onlyAttempt(target.url(name), store.StateFailed)
	}
	w.checkPassed(t, public)
	target.checkUntouched(t)
}

// Where a redirect leads is not even looked up.
func TestRedirectsAreNotFollowed(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	target := newTrap(t)
	r := newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Location", target.url("127.0.0.1"))
		code := map[string]int{"/301": 301, "/302": 302, "/303": 303, "/307": 307, "/308": 308}[q.URL.Path]
		w.WriteHeader(code)
	})
	env.run(Config{RootCAs: r.roots(), Schedule: []time.Duration{}})
	for path, code := range map[string]int{"/301": 301, "/302": 302, "/303": 303, "/307": 307, "/308": 308} {
		a := env.onlyAttempt(r.URL+path, store.StateFailed)
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
