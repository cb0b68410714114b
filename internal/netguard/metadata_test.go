package netguard

import (
	"net/netip"
	"testing"
)

// TestWideRangesLeaveOutMetadata: who allows a network of receivers does not hand
// out the credentials of its machines.
func TestWideRangesLeaveOutMetadata(t *testing.T) {
	for _, test := range []struct {
		cidr, addr string
		passes     bool
	}{
		{"0.0.0.0/0", "169.254.169.254:80", false}, {"169.254.0.0/16", "169.254.169.254:80", false},
		{"169.254.168.0/23", "169.254.169.254:80", false}, {"169.254.169.0/24", "169.254.169.254:80", true},
		{"169.254.169.254", "169.254.169.254:80", true}, {"169.254.169.254", "[::ffff:169.254.169.254]:80", true},
		{"::ffff:0:0/96", "[::ffff:169.254.169.254]:80", false}, {"::ffff:169.254.169.0/120", "169.254.169.254:80", true},
		{"100.64.0.0/10", "100.100.100.200:80", false}, {"100.64.0.0/10", "100.100.100.201:80", true},
		{"168.0.0.0/8", "168.63.129.16:80", false}, {"169.254.0.0/16", "169.254.170.2:80", false},
		{"::/0", "[fd00:ec2::254]:80", false}, {"fd00:ec2::/32", "[fd00:ec2::254]:80", false}, {"fd00::/8", "[fd20:ce::254]:80", false},
		{"fd00:ec2::/63", "[fd00:ec2::254]:80", false}, {"fd00:ec2::/64", "[fd00:ec2::254]:80", true}, {"fd00::/8", "[fd00:ec2::1]:80", true},
	} {
		err := New(Config{Allow: cidrs(t, test.cidr)}).Check(netip.MustParseAddrPort(test.addr))
		if (err == nil) != test.passes {
			t.Errorf("%s with %s allowed: %v, want passing: %t", test.addr, test.cidr, err, test.passes)
		}
	}
	both := New(Config{Allow: cidrs(t, "169.254.0.0/16", "169.254.169.254")})
	if err := both.Check(netip.MustParseAddrPort("169.254.169.254:80")); err != nil {
		t.Errorf("named beside a wide range: %v", err)
	}
}
