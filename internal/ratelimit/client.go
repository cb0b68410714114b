package ratelimit

import (
	"net/netip"
	"time"
)

// ClientKey returns what one client is counted as: its whole IPv4 address, or
// the /64 of its IPv6 address, since a single subscriber is given at least
// that much and can pick any address in it. IPv4 inside IPv6 counts as IPv4,
// and zones are left out. An invalid address gives the zero prefix.
func ClientKey(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 64
	if addr.Is4() {
		bits = 32
	}
	key, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return key
}

// Seconds returns d in whole seconds, rounded up, as Retry-After has it: at
// least 1 for a positive d, 0 for any other.
func Seconds(d time.Duration) int {
	if d <= 0 {
		return 0
	}
	return int((d-1)/time.Second) + 1
}
