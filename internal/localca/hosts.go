package localca

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"teamdata/internal/canonical"
)

// LocalHosts returns the hosts under which this machine's own clients reach
// it: localhost, both loopback addresses, and hostname as given and in lower
// case, each once. A hostname that is no DNS name is left out.
func LocalHosts(hostname string) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	if !validName(hostname) {
		return hosts
	}
	for _, name := range []string{hostname, strings.ToLower(hostname)} {
		if !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

// split separates names from addresses. Zones are dropped, since certificates can't
// contain them.
func split(hosts []string) (names []string, ips []net.IP, err error) {
	for _, host := range hosts {
		if addr, err := netip.ParseAddr(host); err == nil {
			ips = append(ips, addr.Unmap().WithZone("").AsSlice())
		} else if validName(strings.TrimPrefix(host, "*.")) {
			names = append(names, host)
		} else {
			return nil, nil, fmt.Errorf("localca: %q is neither a DNS name nor an IP address", host)
		}
	}
	if len(hosts) == 0 {
		return nil, nil, errors.New("localca: no host to issue for")
	}
	return names, ips, nil
}

// validName allows the underscore, which container names often have and clients accept.
func validName(name string) bool { return canonical.IsName(name, "_") }
