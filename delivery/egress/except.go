package egress

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"teamdata/internal/canonical"
	"teamdata/internal/netguard"
)

// exceptions are the receivers that are connected to without the proxy.
type exceptions struct {
	names  []string // one with a period in front stands for all below it
	ranges []netip.Prefix
}

func parseExceptions(list []string) (e exceptions, err error) {
	for _, entry := range list {
		text := strings.ToLower(strings.TrimSpace(entry))
		if ranges, err := netguard.ParseCIDRs([]string{text}); err == nil {
			e.ranges = append(e.ranges, ranges...)
			continue
		}
		name, err := canonical.Host(strings.TrimPrefix(text, "."))
		if err != nil || !canonical.IsName(name, "_") || isNumeric(name) {
			return e, fmt.Errorf("--egress-proxy-except: %q is not a receiver: write a name like hooks.corp, a domain like .corp, an address or a CIDR like 10.0.0.0/8, without a port", entry)
		}
		if strings.HasPrefix(text, ".") {
			name = "." + name
		}
		e.names = append(e.names, name)
	}
	return e, nil
}

// hasName reports whether a host is excepted by its name.
func (e *exceptions) hasName(host string) bool {
	return slices.ContainsFunc(e.names, func(name string) bool {
		return host == name || name[0] == '.' && strings.HasSuffix(host, name)
	})
}

// hasAddress reports whether an address is connected to without the proxy. Those that mean
// something else on every machine always are: at the proxy they would be the proxy's own.
func (e *exceptions) hasAddress(ip netip.Addr) bool {
	return ip.IsLoopback() || ip.IsLinkLocalUnicast() ||
		slices.ContainsFunc(e.ranges, func(r netip.Prefix) bool { return r.Contains(ip.WithZone("")) })
}

// isLocalName reports whether a host's name is this machine's (RFC 6761, 6.3).
func isLocalName(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost")
}

// isNumeric reports whether a host is an address in one of the forms that only some
// systems read as one, such as 127.1, 2130706433 or 0x7f.0.0.1: its last label is a number,
// which that of no name is.
func isNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	if hex, ok := strings.CutPrefix(last, "0x"); ok {
		return strings.Trim(hex, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}
