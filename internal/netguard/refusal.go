package netguard

import (
	"fmt"
	"net/netip"
	"slices"

	"code.dny.dev/ssrf"
)

const (
	ruleOwn      = "one of this server's own listeners"
	ruleNoAddr   = "not an IP address"
	ruleMetadata = "cloud metadata address"
)

// metadata holds the addresses at which cloud providers serve a machine its
// credentials or settings. The last is in public space and would pass without this;
// the others are listed so that a refusal says what they are.
var metadata = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), // most clouds
	netip.MustParseAddr("fd00:ec2::254"),   // AWS
	netip.MustParseAddr("169.254.170.2"),   // AWS, for containers (ECS)
	netip.MustParseAddr("169.254.170.23"),  // AWS, for containers (EKS)
	netip.MustParseAddr("fd00:ec2::23"),    // AWS, for containers (EKS)
	netip.MustParseAddr("fd20:ce::254"),    // Google
	netip.MustParseAddr("100.100.100.200"), // Alibaba
	netip.MustParseAddr("192.0.0.192"),     // Oracle
	netip.MustParseAddr("168.63.129.16"),   // Azure
}

// names reports whether a range is narrow enough to mean ip itself: a wider one
// is for receivers in a network, not for the metadata of its machines.
func names(p netip.Prefix, ip netip.Addr) bool {
	narrow := 24
	if p.Addr().Is6() {
		narrow = 64
	}
	return p.Bits() >= narrow && p.Contains(ip)
}

// NamesMetadata reports whether a range that is allowed lets webhooks reach the metadata
// of cloud machines.
func NamesMetadata(p netip.Prefix) bool {
	return slices.ContainsFunc(metadata, func(ip netip.Addr) bool { return names(unmapPrefix(p), ip) })
}

// Refusal is the error of an address that a rule refuses.
type Refusal struct {
	Addr netip.AddrPort // as it was to be dialed
	Rule string         // why, such as "loopback range 127.0.0.0/8"
}

// Error is one line with the address, the rule, and how an operator can allow it.
func (r *Refusal) Error() string {
	text := fmt.Sprintf("address %s refused: %s", r.Addr, r.Rule)
	switch r.Rule {
	case ruleOwn, ruleNoAddr:
		return text
	case ruleMetadata:
		return text + " (name it to allow it: --allow-endpoint-cidr " + plain(r.Addr.Addr()).String() + ")"
	}
	return text + " (allow it with --allow-endpoint-cidr)"
}

// specialRange names the range for which the rules refuse ip.
func specialRange(ip netip.Addr) string {
	denied := ssrf.IPv4DeniedPrefixes
	if ip.Is6() {
		denied = ssrf.IPv6DeniedPrefixes
	}
	for _, prefix := range denied {
		if prefix.Contains(ip) {
			return fmt.Sprintf("%s range %s", kind(ip), prefix)
		}
	}
	return fmt.Sprintf("%s address outside global unicast %s", kind(ip), ssrf.IPv6GlobalUnicast)
}

func kind(ip netip.Addr) string {
	switch {
	case ip.IsUnspecified():
		return "unspecified"
	case ip.IsLoopback():
		return "loopback"
	case ip.IsPrivate():
		return "private"
	case ip.IsLinkLocalUnicast():
		return "link-local"
	case ip.IsMulticast():
		return "multicast"
	}
	return "special-purpose"
}
