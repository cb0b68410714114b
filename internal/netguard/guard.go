// Package netguard decides which addresses a webhook may be sent to, so that
// an endpoint's URL can't be used to reach what only this machine can reach
// (server-side request forgery).
//
// [Guard.Control] goes into a [net.Dialer]. It sees the resolved address of each
// connection just before it is made, so a name that resolves differently the
// second time gains nothing. A proxy may dial on our behalf only an address that
// was checked here: it would resolve a name itself, bypassing the guard.
//
// The first rule that applies decides:
//
//  1. Our own listeners are refused. No configuration changes that.
//  2. Addresses at which clouds serve a machine's credentials are refused, unless a
//     range in Config.Allow that is no wider than /24 (IPv6: /64) names them.
//  3. Other addresses in Config.Allow pass.
//  4. Everything but global unicast is refused: loopback, private, link-local,
//     shared and reserved ranges, multicast, and IPv6 forms that carry an IPv4
//     address (NAT64, 6to4). The ranges are IANA's special-purpose registries.
//  5. The rest passes, on any port.
//
// An IPv4-mapped IPv6 address (::ffff:192.0.2.1) is treated as the IPv4 address
// it reaches, and an IPv6 zone (%eth0) makes no difference.
//
// It imports nothing of ours. A new rule is a case in [Guard.rule], a new range or
// address that is refused belongs in refusal.go.
package netguard

import (
	"cmp"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// Config changes the rules. The zero Config is the strictest.
type Config struct {
	// Allow is ranges that are allowed although they are not global unicast. A
	// range of NAT64 or 6to4 addresses opens every IPv4 address behind it.
	Allow []netip.Prefix

	// Own returns the addresses that our own listeners are bound to. It is called
	// on each dial, concurrently, since listeners are bound after the guard is
	// created. Nil means none.
	Own func() []netip.AddrPort
}

// Guard checks addresses. Create it with [New]. It is safe for concurrent use.
type Guard struct {
	allow []netip.Prefix
	own   ownListeners
	rules *ssrf.Guardian
}

// New returns a guard. It keeps no reference to config.Allow.
func New(config Config) *Guard {
	g := &Guard{
		own:   ownListeners{list: config.Own, local: interfaceAddrs},
		rules: ssrf.New(ssrf.WithAnyPort()),
	}
	for _, prefix := range config.Allow {
		g.allow = append(g.allow, unmapPrefix(prefix))
	}
	return g
}

// Control is a [net.Dialer.Control] for TCP. Its error is a [*Refusal] when a
// rule refuses the address, and another when network is not tcp4 or tcp6 or
// address is not "ip:port".
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	if network != "tcp4" && network != "tcp6" {
		return fmt.Errorf("network %q refused: webhooks are sent over TCP only", network)
	}
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("address %q refused: not an IP address and port", address)
	}
	return g.Check(addr)
}

// Check returns nil if addr may be dialed, and else a [*Refusal].
func (g *Guard) Check(addr netip.AddrPort) error {
	if rule := g.rule(plain(addr.Addr()), addr.Port()); rule != "" {
		return &Refusal{Addr: addr, Rule: rule}
	}
	return nil
}

// Warn returns why a URL whose host is an address, or localhost, would be
// refused; else "". Where a name leads is known only on dialing.
func (g *Guard) Warn(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if strings.EqualFold(u.Hostname(), "localhost") {
		ip, err = netip.AddrFrom4([4]byte{127, 0, 0, 1}), nil
	}
	port, badPort := strconv.ParseUint(cmp.Or(u.Port(), "443"), 10, 16)
	if err != nil || badPort != nil {
		return ""
	}
	switch rule := g.rule(plain(ip), uint16(port)); rule {
	case "":
		return ""
	case ruleOwn, ruleNoAddr:
		return fmt.Sprintf("Deliveries to %s will be refused: it is %s.", u.Host, rule)
	default:
		return fmt.Sprintf("Deliveries to %s will be refused (%s), unless the operator of the server allows that with --allow-endpoint-cidr %s.", u.Host, rule, plain(ip))
	}
}

// rule returns the rule that refuses ip, or "".
func (g *Guard) rule(ip netip.Addr, port uint16) string {
	switch {
	case !ip.IsValid():
		return ruleNoAddr
	case g.own.match(ip, port):
		return ruleOwn
	case slices.Contains(metadata, ip):
		if slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return names(p, ip) }) {
			return ""
		}
		return ruleMetadata
	case slices.ContainsFunc(g.allow, func(p netip.Prefix) bool { return p.Contains(ip) }):
		return ""
	case g.rules.SafeAddr(ip) != nil:
		return specialRange(ip)
	}
	return ""
}

// plain returns one form of addresses that can be written differently.
func plain(ip netip.Addr) netip.Addr {
	return ip.Unmap().WithZone("")
}

// IsLoopback reports whether a host, a name or an address, is this machine.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() || strings.EqualFold(host, "localhost")
}
