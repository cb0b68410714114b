package netguard

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
)

// ParseCIDRs reads ranges ("10.0.0.0/8", "fd00::/8") and single addresses
// ("192.0.2.7"), which may have spaces around them. A range written with bits after
// its length (10.1.2.3/8) is the whole range. The error names the entry and how to
// write it.
func ParseCIDRs(list []string) ([]netip.Prefix, error) {
	var prefixes []netip.Prefix
	for _, text := range list {
		prefix, err := parseCIDR(strings.TrimSpace(text))
		if err != nil {
			return nil, err
		}
		prefixes = append(prefixes, prefix)
	}
	return prefixes, nil
}

func parseCIDR(text string) (netip.Prefix, error) {
	if text == "" {
		return netip.Prefix{}, errors.New("empty entry in the list of CIDRs: remove the extra comma")
	}
	if _, zone, ok := strings.Cut(text, "%"); ok {
		return netip.Prefix{}, fmt.Errorf("CIDR %q names a zone: leave out %q, the range holds in every zone", text, "%"+zone)
	}
	if ip, err := netip.ParseAddr(text); err == nil {
		ip = plain(ip)
		return netip.PrefixFrom(ip, ip.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is not a CIDR or an IP address: write it like 10.0.0.0/8, fd00::/8 or 192.0.2.7", text)
	}
	return unmapPrefix(prefix), nil
}

// unmapPrefix turns a range of IPv4-mapped addresses into the IPv4 range, since
// addresses are unmapped before they are compared.
func unmapPrefix(prefix netip.Prefix) netip.Prefix {
	const mappedBits = 128 - 32
	if prefix.Addr().Is4In6() && prefix.Bits() >= mappedBits {
		prefix = netip.PrefixFrom(prefix.Addr().Unmap(), prefix.Bits()-mappedBits)
	}
	return prefix.Masked()
}
