package netguard

import (
	"net"
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"
)

// ownListeners is the addresses that reach this server itself.
type ownListeners struct {
	list  func() []netip.AddrPort
	local func() ([]netip.Addr, error) // addresses of this machine
}

func (o ownListeners) match(ip netip.Addr, port uint16) bool {
	if o.list == nil {
		return false
	}
	via := embedded(ip)
	for _, listener := range o.list() {
		if listener.Port() != port {
			continue
		}
		bound := plain(listener.Addr())
		if o.reaches(ip, bound) || via.IsValid() && o.reaches(via, bound) {
			return true
		}
	}
	return false
}

// reaches reports whether dialing ip may reach a listener bound to bound, given
// that the ports are the same.
func (o ownListeners) reaches(ip, bound netip.Addr) bool {
	switch {
	case ip == bound:
		return true
	case ip.IsUnspecified():
		// The kernel turns it into an address of this machine.
		return true
	case bound.IsUnspecified():
		return o.isLocal(ip)
	}
	return false
}

// isLocal reads the system's addresses each time, since they change.
func (o ownListeners) isLocal(ip netip.Addr) bool {
	if ip.IsLoopback() {
		return true
	}
	addrs, err := o.local()
	return err != nil || slices.Contains(addrs, ip) // if unknown, it counts as ours
}

func interfaceAddrs() ([]netip.Addr, error) {
	found, err := net.InterfaceAddrs()
	if err != nil {
		return nil, err
	}
	var addrs []netip.Addr
	for _, addr := range found {
		if prefix, err := netip.ParsePrefix(addr.String()); err == nil {
			addrs = append(addrs, plain(prefix.Addr()))
		}
	}
	return addrs, nil
}

var sixToFour = netip.MustParsePrefix("2002::/16")

// embedded returns the IPv4 address to which a gateway would translate a NAT64 or 6to4
// address, or the zero Addr. Such addresses can be allowed, and the gateway may then
// lead back to this machine.
func embedded(ip netip.Addr) netip.Addr {
	bytes := ip.As16()
	switch {
	case ssrf.IPv6NAT64Prefix.Contains(ip):
		return netip.AddrFrom4([4]byte(bytes[12:]))
	case sixToFour.Contains(ip):
		return netip.AddrFrom4([4]byte(bytes[2:6]))
	}
	return netip.Addr{}
}
