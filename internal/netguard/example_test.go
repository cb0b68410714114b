package netguard_test

import (
	"fmt"
	"net/netip"

	"teamdata/internal/netguard"
)

func Example() {
	allow, err := netguard.ParseCIDRs([]string{"10.20.0.0/16"})
	if err != nil {
		fmt.Println(err)
		return
	}
	guard := netguard.New(netguard.Config{Allow: allow})
	// In use: net.Dialer{Control: guard.Control}
	for _, addr := range []string{"93.184.216.34:443", "10.20.0.9:443", "10.0.0.9:443"} {
		fmt.Println(guard.Check(netip.MustParseAddrPort(addr)))
	}
	// Output:
	// <nil>
	// <nil>
	// address 10.0.0.9:443 refused: private range 10.0.0.0/8 (allow it with --allow-endpoint-cidr)
}
