package netguard

import (
	"net/netip"
	"strings"
)

// IsLoopback tells whether what is sent to a host, a name or an address, stays on
// this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
