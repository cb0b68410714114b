package netguard

import (
	"net/netip"
	"slices"
	"testing"
)

// An address that passes Control must be public by the standard library's judgement
// too, however it was written.
// reachable are the ranges of IANA's global unicast registries, and special those
// parts of them that its special-purpose registries take out again.
var (
	reachable = prefixes("0.0.0.0/0", "2000::/3")
	special   = prefixes(
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
		"2001:db8::/32", "2001::/32", "2002::/16", "3fff::/20",
	)
)

func prefixes(list ...string) []netip.Prefix {
	parsed, err := ParseCIDRs(list)
	if err != nil {
		panic(err)
	}
	return parsed
}

func within(ip netip.Addr, ranges []netip.Prefix) bool {
	return slices.ContainsFunc(ranges, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// FuzzControl checks that every address that passes is public, and none of ours, in
// whatever form it is written.
func FuzzControl(f *testing.F) {
	for _, tt := range hostile {
		f.Add(tt.addr)
	}
	own := netip.MustParseAddrPort("93.184.216.34:443")
	g := New(Config{Own: func() []netip.AddrPort { return []netip.AddrPort{own} }})
	f.Fuzz(func(t *testing.T, address string) {
		if g.Control("tcp4", address, nil) != nil {
			return
		}
		addr, err := netip.ParseAddrPort(address)
		if err != nil {
			t.Fatalf("%q passed and is no address", address)
		}
		ip := addr.Addr().Unmap().WithZone("")
		if !within(ip, reachable) || within(ip, special) || netip.AddrPortFrom(ip, addr.Port()) == own {
			t.Fatalf("%q passed", address)
		}
		if g.Check(netip.AddrPortFrom(netip.AddrFrom16(ip.As16()), addr.Port())) != nil {
			t.Fatalf("%q passes and its mapped form does not", address)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	own := []netip.AddrPort{netip.MustParseAddrPort("[::]:8443")}
	g := New(Config{Own: func() []netip.AddrPort { return own }})
	addr := netip.MustParseAddrPort("93.184.216.34:443")
	b.ReportAllocs()
	for b.Loop() {
		if err := g.Check(addr); err != nil {
			b.Fatal(err)
		}
	}
}
