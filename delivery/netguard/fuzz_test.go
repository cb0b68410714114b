package netguard

import (
	"net/netip"
	"testing"
)

// What Control lets through must be public by the standard library's own
// judgement, however it was written.
func FuzzControl(f *testing.F) {
	for _, tt := range hostile {
		f.Add(tt.addr)
	}
	for _, address := range []string{"8.8.8.8:443", "[2606:4700::1111]:443", "[::ffff:8.8.8.8%eth0]:443", "[::1", ":80", "8.8.8.8:99999"} {
		f.Add(address)
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
		ip := addr.Addr().Unmap()
		if !ip.IsGlobalUnicast() || ip.IsPrivate() || netip.AddrPortFrom(ip, addr.Port()) == own {
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
