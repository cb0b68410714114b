package netguard

import (
	"errors"
	"net/netip"
	"testing"
)

// Everything is allowed, so that only our own listeners can be refused.
func TestOwnListeners(t *testing.T) {
	for _, tt := range []struct {
		name, bound, addr string
		refused           bool
	}{
		{"same", "127.0.0.1:8443", "127.0.0.1:8443", true},
		{"other port", "127.0.0.1:8443", "127.0.0.1:8444", false},
		{"other loopback address", "127.0.0.1:8443", "127.0.0.2:8443", false},
		{"mapped", "127.0.0.1:8443", "[::ffff:127.0.0.1]:8443", true},
		{"bound mapped", "[::ffff:127.0.0.1]:8443", "127.0.0.1:8443", true},
		{"zone", "[fe80::1%eth0]:8443", "[fe80::1%1]:8443", true},
		{"unspecified reaches loopback", "127.0.0.1:8443", "0.0.0.0:8443", true},
		{"unspecified reaches loopback, IPv6", "[::1]:8443", "[::]:8443", true},
		{"unspecified, other port", "127.0.0.1:8443", "0.0.0.0:8444", false},
		{"public", "93.184.216.34:443", "93.184.216.34:443", true},
		{"by NAT64", "93.184.216.34:443", "[64:ff9b::5db8:d822]:443", true},
		{"by 6to4", "93.184.216.34:443", "[2002:5db8:d822::1]:443", true},
		{"any, loopback", "0.0.0.0:443", "127.8.9.10:443", true},
		{"any, interface", "0.0.0.0:443", "198.51.100.7:443", true},
		{"any, interface by NAT64", "0.0.0.0:443", "[64:ff9b::c633:6407]:443", true},
		{"any, unspecified", "0.0.0.0:443", "[::]:443", true},
		{"any, elsewhere", "0.0.0.0:443", "198.51.100.8:443", false},
		{"any, interface, other port", "0.0.0.0:443", "198.51.100.7:444", false},
		{"any IPv6, loopback", "[::]:443", "127.0.0.1:443", true},
		{"any IPv6, loopback IPv6", "[::]:443", "[::1]:443", true},
		{"any IPv6, interface", "[::]:443", "[2001:db8::7%eth0]:443", true},
		{"any IPv6, elsewhere", "[::]:443", "[2001:db8::8]:443", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := guardOf(t, tt.bound)
			g.own.local = func() ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("2001:db8::7")}, nil
			}
			addr := netip.MustParseAddrPort(tt.addr)
			if err := g.Check(addr); tt.refused {
				checkRefused(t, err, addr, ruleOwn)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}

func guardOf(t *testing.T, bound ...string) *Guard {
	var own []netip.AddrPort
	for _, text := range bound {
		own = append(own, netip.MustParseAddrPort(text))
	}
	return New(Config{
		Allow: cidrs(t, "0.0.0.0/0", "::/0"),
		Own:   func() []netip.AddrPort { return own },
	})
}

func TestOwnAddressesAreOfThisMachine(t *testing.T) {
	addrs, err := interfaceAddrs()
	if err != nil || len(addrs) == 0 {
		t.Skipf("no interface addresses here: %v", err)
	}
	g := guardOf(t, "[::]:8443")
	for _, ip := range addrs {
		addr := netip.AddrPortFrom(ip, 8443)
		checkRefused(t, g.Check(addr), addr, ruleOwn)
	}
}

// The lookup costs system calls, and it may fail.
func TestInterfacesAreAskedOnlyInNeed(t *testing.T) {
	g := guardOf(t, "0.0.0.0:8443", "198.51.100.7:443")
	asked := 0
	g.own.local = func() ([]netip.Addr, error) {
		asked++
		return nil, errors.New("no interfaces")
	}
	for _, text := range []string{"93.184.216.34:443", "127.0.0.1:8443", "198.51.100.7:443"} {
		_ = g.Check(netip.MustParseAddrPort(text))
	}
	if asked != 0 {
		t.Errorf("interfaces asked for %d times, want never", asked)
	}
	addr := netip.MustParseAddrPort("93.184.216.34:8443")
	checkRefused(t, g.Check(addr), addr, ruleOwn)
}

func TestListenersBoundLater(t *testing.T) {
	var own []netip.AddrPort
	g := New(Config{
		Allow: cidrs(t, "127.0.0.0/8"),
		Own:   func() []netip.AddrPort { return own },
	})
	addr := netip.MustParseAddrPort("127.0.0.1:8443")
	if err := g.Check(addr); err != nil {
		t.Fatal(err)
	}
	own = append(own, addr)
	checkRefused(t, g.Check(addr), addr, ruleOwn)
}
