package doctor

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"teamdata/admin/socket"
	"teamdata/app"
	"teamdata/internal/netguard"
	"teamdata/internal/terminal"
	"teamdata/server/clientaddr"
)

// checkListeners tries each address that a flag of serve listens on.
func (d *doctor) checkListeners(ctx context.Context) {
	d.Flags.VisitAll(func(f *pflag.Flag) {
		// The usage says host:port of those alone, so there is no second list.
		address := f.Value.String()
		if kind, _ := pflag.UnquoteUsage(f); kind != "host:port" || address == "" {
			return
		}
		if path, ok := strings.CutPrefix(address, app.UnixPrefix); ok {
			d.tryUnix(ctx, f.Name, path)
		} else {
			d.tryAddress(f.Name, address)
		}
	})
	host, _, err := net.SplitHostPort(d.Listen)
	if d.HTTP && err == nil && !netguard.IsLoopback(host) {
		d.warn("let only a proxy with TLS reach it, or leave out --http", "--listen %s is plain HTTP, so keys cross the network unencrypted", d.Listen)
	}
}

func (d *doctor) tryAddress(flag, address string) {
	if d.served {
		d.ok("--%s %s: not tried, because the running server may use it", flag, address)
		return
	}
	l, err := app.Listen(address)
	if err != nil {
		d.refused(err)
		return
	}
	l.Close()
	d.ok("--%s %s is free", flag, address)
}

// tryUnix binds nothing: that would take away a socket that was left behind.
func (d *doctor) tryUnix(ctx context.Context, flag, path string) {
	if conn, err := socket.Dial(ctx, path); err == nil {
		conn.Close()
		if !d.served {
			d.problem("choose another path with --"+flag, "%s is taken by another program that listens there", path)
			return
		}
	}
	if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
		d.problem("make it: mkdir -p "+terminal.ShellWord(filepath.Dir(path)), "there is no folder for the socket %s", path)
		return
	}
	d.ok("--%s unix:%s has a folder", flag, path)
}

// Shorter prefixes take in a good part of the internet.
const shortest4, shortest6 = 8, 16

func isWide(p netip.Prefix) bool {
	if p.Addr().Is4() {
		return p.Bits() < shortest4
	}
	return p.Bits() < shortest6 && !(p.Bits() >= 7 && netip.MustParsePrefix("fc00::/7").Contains(p.Addr()))
}

func (d *doctor) checkProxies(context.Context) {
	proxies, err := clientaddr.Parse(d.TrustedProxies)
	if err != nil {
		return // the check of the settings reports it
	}
	before := len(d.list)
	for _, p := range proxies {
		if isWide(p) {
			d.problem("name the proxies' own addresses with --trusted-proxies", "%s trusts strangers to say who they are, and no limit by address holds", p)
		}
	}
	if len(d.list) == before {
		d.ok("trusted: %s", cmp.Or(strings.Join(d.TrustedProxies, ", "), "none"))
	}
}

// checkEndpoints reports which networks the endpoints, whose URLs orgs choose,
// may reach.
func (d *doctor) checkEndpoints(context.Context) {
	allowed, err := netguard.ParseCIDRs(d.AllowEndpointCIDR)
	if err != nil {
		return // the check of the settings reports it
	}
	before := len(d.list)
	for _, p := range allowed {
		d.checkAllowed(p)
	}
	if len(d.list) == before {
		d.ok("allowed outside the public internet: %s", cmp.Or(strings.Join(d.AllowEndpointCIDR, ", "), "none"))
	}
}

func (d *doctor) checkAllowed(p netip.Prefix) {
	const fix = "allow only the receivers' own addresses with --allow-endpoint-cidr"
	if isWide(p) {
		d.problem(fix, "%s lets webhooks into every network that this machine reaches", p)
		return
	}
	if p.Overlaps(netip.MustParsePrefix("127.0.0.0/8")) || p.Overlaps(netip.MustParsePrefix("::1/128")) {
		d.warn(fix, "%s lets webhooks reach the services of this machine", p)
	}
	if netguard.NamesMetadata(p) {
		d.warn(fix, "%s lets webhooks reach the metadata of cloud machines, with their credentials", p)
	}
}

func (d *doctor) checkDomains(ctx context.Context) {
	own, _ := net.InterfaceAddrs() // without them none is taken for one
	for _, domain := range d.Domains {
		found, err := d.resolver.LookupNetIP(ctx, "ip", domain)
		if err != nil {
			d.problem("add an A or AAAA record with this server's address", "%s does not resolve: %v", domain, err)
			continue
		}
		for _, ip := range found {
			d.checkAddress(domain, ip.Unmap(), own)
		}
	}
	if len(d.Domains) == 0 {
		d.ok("none")
	}
}

func (d *doctor) checkAddress(domain string, ip netip.Addr, own []net.Addr) {
	mine := slices.ContainsFunc(own, func(a net.Addr) bool {
		p, err := netip.ParsePrefix(a.String())
		return err == nil && p.Addr().Unmap() == ip
	})
	switch {
	case mine && !ip.IsLoopback():
		d.ok("%s is at %s, which is this machine", domain, ip)
	case ip.IsLoopback() || ip.IsPrivate() || !ip.IsGlobalUnicast():
		d.warn("correct its A or AAAA record", "%s is at %s, where nobody on the internet reaches it", domain, ip)
	default:
		d.ok("%s is at %s, which isn't this machine's; that is right behind NAT or a proxy", domain, ip)
	}
}
