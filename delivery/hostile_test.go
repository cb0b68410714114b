package delivery

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"teamdata/internal/netguard"
	"teamdata/store"
)

// hostile are hosts in URLs where no webhook may go: the address that is meant,
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
	{"[fd00:ec2::254]", "fd00:ec2::254", "cloud metadata address", "fd00:ec2::/32"},
	{"100.100.100.200", "100.100.100.200", "cloud metadata address", "100.64.0.0/10"},
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

// What may not be reached is one failed attempt that says why, and no socket
// hears of it.
func TestHostileTargets(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	target := newTrap(t)
	w := &witness{guard: netguard.New(netguard.Config{})}
	b.run(Config{RootCAs: trusted().roots(), Control: w.control, Schedule: []time.Duration{}})
	var urls []string
	for _, test := range hostile {
		urls = append(urls, target.url(test.host))
	}
	deliveries := b.sendToAll(urls)
	for i, test := range hostile {
		t.Run(test.host, func(t *testing.T) {
			addr := netip.MustParseAddr(test.addr)
			if addr.Is6() {
				needsIPv6(t)
			}
			a := b.of(t).onlyAttemptOf(deliveries[i], store.StateFailed)
			checkRefusal(t, a, addr, target.port, test.rule)
		})
	}
	w.checkAgreed(t)
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

// Each passes when its range is allowed: what is on this machine is delivered,
// and what is not would be dialed.
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
			w := &witness{guard: netguard.New(netguard.Config{Allow: allow})}
			a := sendOnce(t, target.url(test.host), Config{RootCAs: trusted().roots(), Control: w.control})
			w.checkAgreed(t, test.addr)
			switch {
			case (target.isAt(test.addr) || addr.IsUnspecified()) && !a.Acknowledged():
				t.Errorf("it is allowed and there, but: %s", a.Reason)
			case !addr.IsLoopback() && !addr.IsUnspecified() && !strings.Contains(a.Reason, errNotDialed.Error()):
				t.Errorf("it was dialed: %s", a.Reason)
			}
		})
	}
}

// Our own listeners are refused whatever is allowed; what listens beside them
// is not.
func TestOwnListenersAreRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api, admin, beside := newTrap(t), newTrap(t), newTrap(t)
	own := append(append([]netip.AddrPort{}, api.addrs...), admin.addrs...)
	guard := netguard.New(netguard.Config{
		Allow: []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
		Own:   func() []netip.AddrPort { return own },
	})
	b.run(Config{RootCAs: trusted().roots(), Control: guard.Control, Schedule: []time.Duration{}})
	for _, listener := range []*trap{api, admin} {
		for _, addr := range listener.addrs {
			a := b.onlyAttempt(fmt.Sprintf("https://%s/hook", addr), store.StateFailed)
			checkRefusal(t, a, addr.Addr(), listener.port, "one of this server's own listeners")
		}
		a := b.onlyAttempt(listener.url("0.0.0.0"), store.StateFailed)
		checkRefusal(t, a, netip.IPv4Unspecified(), listener.port, "one of this server's own listeners")
		listener.checkUntouched(t)
	}
	for _, addr := range beside.addrs {
		b.onlyAttempt(fmt.Sprintf("https://%s/hook", addr), store.StateAcknowledged)
	}
}
