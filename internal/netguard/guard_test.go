package netguard

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
)

// hostile holds what an endpoint's URL may not reach, the CIDR that allows it,
// and what the refusal must say.
var hostile = []struct{ addr, cidr, says string }{
	{"127.0.0.1:9443", "127.0.0.0/8", "loopback range 127.0.0.0/8"},
	{"127.255.255.254:443", "127.255.255.254", "loopback range 127.0.0.0/8"},
	{"[::1]:443", "::1", "loopback"},
	{"0.0.0.0:443", "0.0.0.0", "unspecified"},
	{"0.1.2.3:443", "0.0.0.0/8", "range 0.0.0.0/8"},
	{"[::]:443", "::", "unspecified"},
	{"10.0.0.1:443", "10.0.0.0/8", "private range 10.0.0.0/8"},
	{"172.16.0.1:443", "172.16.0.0/12", "private"},
	{"172.31.255.255:443", "172.16.0.0/12", "private"},
	{"192.168.1.1:22", "192.168.1.0/24", "private"},
	{"[fd12:3456::1]:443", "fd00::/8", "private"},
	{"[fc00::1]:443", "fc00::/7", "private"},
	{"169.254.1.1:443", "169.254.0.0/16", "link-local"},
	{"[fe80::1]:443", "fe80::/10", "link-local"},
	{"[fe80::1%eth0]:443", "fe80::/10", "link-local"},
	{"[fec0::1]:443", "fec0::/10", "outside global unicast"},
	{"100.64.0.1:443", "100.64.0.0/10", "100.64.0.0/10"},
	{"100.127.255.255:443", "100.64.0.0/10", "100.64.0.0/10"},
	{"169.254.169.254:80", "169.254.169.254", "cloud metadata"},
	{"[fd00:ec2::254]:80", "fd00:ec2::/64", "cloud metadata"},
	{"100.100.100.200:80", "100.100.100.200/32", "cloud metadata"},
	{"169.254.170.2:80", "169.254.170.0/24", "cloud metadata"},
	{"[fd20:ce::254]:80", "fd20:ce::254", "cloud metadata"},
	{"192.0.0.192:80", "192.0.0.0/24", "cloud metadata"},
	{"168.63.129.16:80", "168.63.129.16", "cloud metadata"},
	{"[::ffff:168.63.129.16]:80", "168.63.129.16", "cloud metadata"},
	{"[::ffff:127.0.0.1]:443", "127.0.0.1", "loopback range 127.0.0.0/8"},
	{"[::ffff:a00:1]:443", "10.0.0.0/8", "private range 10.0.0.0/8"},
	{"[::ffff:10.0.0.1]:443", "::ffff:10.0.0.0/104", "private range 10.0.0.0/8"},
	{"[::127.0.0.1]:443", "::/96", "outside global unicast"},
	{"[64:ff9b::7f00:1]:443", "64:ff9b::/96", "outside global unicast"},
	{"[64:ff9b::5db8:d822]:443", "64:ff9b::/96", "outside global unicast"},
	{"[64:ff9b:1::a00:1]:443", "64:ff9b:1::/48", "outside global unicast"},
	{"[2002:7f00:1::]:443", "2002::/16", "2002::/16"},
	{"[2001::1]:443", "2001::/32", "2001::/23"},
	{"[2001:db8::1]:443", "2001:db8::/32", "2001:db8::/32"},
	{"192.0.2.1:443", "192.0.2.0/24", "192.0.2.0/24"},
	{"198.18.0.1:443", "198.18.0.0/15", "198.18.0.0/15"},
	{"198.51.100.1:443", "198.51.100.0/24", "198.51.100.0/24"},
	{"203.0.113.1:443", "203.0.113.0/24", "203.0.113.0/24"},
	{"224.0.0.1:443", "224.0.0.0/4", "multicast"},
	{"239.255.255.255:443", "224.0.0.0/4", "multicast"},
	{"[ff02::1]:443", "ff00::/8", "multicast"},
	{"240.0.0.1:443", "240.0.0.0/4", "240.0.0.0/4"},
	{"255.255.255.255:443", "255.255.255.255", "240.0.0.0/4"},
}

func TestHostileTargets(t *testing.T) {
	for _, tt := range hostile {
		t.Run(tt.addr, func(t *testing.T) {
			addr := netip.MustParseAddrPort(tt.addr)
			err := New(Config{}).Control("tcp4", tt.addr, nil)
			checkRefused(t, err, addr, tt.says)
			if !strings.Contains(err.Error(), "allow it") || !strings.Contains(err.Error(), "--allow-endpoint-cidr") {
				t.Errorf("no hint in %q", err)
			}

			allow := cidrs(t, tt.cidr)
			if err := New(Config{Allow: allow}).Control("tcp6", tt.addr, nil); err != nil {
				t.Errorf("with %s allowed: %v", tt.cidr, err)
			}

			own := func() []netip.AddrPort { return []netip.AddrPort{addr} }
			err = New(Config{Allow: allow, Own: own}).Control("tcp4", tt.addr, nil)
			checkRefused(t, err, addr, ruleOwn)
		})
	}
}

func cidrs(t testing.TB, list ...string) []netip.Prefix {
	t.Helper()
	prefixes, err := ParseCIDRs(list)
	if err != nil {
		t.Fatal(err)
	}
	return prefixes
}

func checkRefused(t *testing.T, err error, addr netip.AddrPort, says string) {
	t.Helper()
	var refusal *Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("err = %v, want a refusal", err)
	}
	if refusal.Addr != addr || !strings.Contains(refusal.Rule, says) {
		t.Errorf("refusal of %v by %q, want %v by %q", refusal.Addr, refusal.Rule, addr, says)
	}
}

func TestPublicTargetsPass(t *testing.T) {
	g := New(Config{Own: func() []netip.AddrPort {
		return []netip.AddrPort{netip.MustParseAddrPort("93.184.216.34:8443")}
	}})
	for _, addr := range []string{
		"93.184.216.34:443", "1.1.1.1:1", "8.8.8.8:65535", "[::ffff:8.8.8.8]:443", "100.128.0.1:443",
		"168.63.129.15:80", "172.32.0.1:443", "[2606:4700::1111]:443", "[2a00:1450:4001::1]:8443",
	} {
		if err := g.Control("tcp4", addr, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestRefusalText(t *testing.T) {
	own := func() []netip.AddrPort { return []netip.AddrPort{netip.MustParseAddrPort("[::]:8443")} }
	g := New(Config{Own: own})
	for addr, want := range map[string]string{
		"127.0.0.1:9443":     "address 127.0.0.1:9443 refused: loopback range 127.0.0.0/8 (allow it with --allow-endpoint-cidr)",
		"169.254.169.254:80": "address 169.254.169.254:80 refused: cloud metadata address (name it to allow it: --allow-endpoint-cidr 169.254.169.254)",
		"[::1]:9443":         "address [::1]:9443 refused: loopback address outside global unicast 2000::/3 (allow it with --allow-endpoint-cidr)",
		"[::1]:8443":         "address [::1]:8443 refused: one of this server's own listeners",
	} {
		if err := g.Control("tcp4", addr, nil); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestMalformed(t *testing.T) {
	g := New(Config{Allow: cidrs(t, "0.0.0.0/0", "::/0")})
	for _, tt := range []struct{ network, address, says string }{
		{"udp4", "8.8.8.8:443", `network "udp4" refused`},
		{"unix", "/run/admin.sock", `network "unix" refused`},
		{"", "8.8.8.8:443", `network "" refused`},
		{"tcp4", "", "not an IP address and port"},
		{"tcp4", "8.8.8.8", "not an IP address and port"},
		{"tcp4", "localhost:443", "not an IP address and port"},
		{"tcp4", "8.8.8.8:https", "not an IP address and port"},
		{"tcp4", "0177.0.0.1:443", "not an IP address and port"},
		{"tcp4", "2130706433:443", "not an IP address and port"},
	} {
		err := g.Control(tt.network, tt.address, nil)
		if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Control(%q, %q) = %v, want %q", tt.network, tt.address, err, tt.says)
		}
	}
	checkRefused(t, g.Check(netip.AddrPort{}), netip.AddrPort{}, ruleNoAddr)
}
