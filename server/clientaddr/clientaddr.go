// Package clientaddr tells which client a request comes from when proxies stand
// in between. Each proxy adds the address that it saw to the end of a header,
// Forwarded (RFC 7239) or X-Forwarded-For. Anybody can write there, so an
// address counts only if a trusted proxy has added it.
package clientaddr

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// maxHops is how many proxies may stand in a row.
const maxHops = 32

// Proxies are the addresses of the proxies that are trusted.
type Proxies []netip.Prefix

var named = map[string]Proxies{
	"loopback": prefixes("127.0.0.0/8", "::1/128"),
	"private":  prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"),
}

func prefixes(texts ...string) (p Proxies) {
	for _, text := range texts {
		p = append(p, netip.MustParsePrefix(text))
	}
	return p
}

// Parse reads CIDRs and addresses, and the names loopback and private. Its error
// is one line that quotes what is wrong.
func Parse(list []string) (p Proxies, err error) {
	for _, text := range list {
		text = strings.TrimSpace(text)
		if group, ok := named[text]; ok {
			p = append(p, group...)
			continue
		}
		prefix, err := parsePrefix(text)
		if err != nil {
			return nil, err
		}
		p = append(p, prefix)
	}
	return p, nil
}

func parsePrefix(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" {
		addr = plain(addr)
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return prefix, fmt.Errorf("%q is not a CIDR or an address; write it like 10.0.0.0/8, 192.0.2.7, loopback or private", text)
	case prefix.Addr().Is4In6():
		return prefix, fmt.Errorf("%q is IPv4 inside IPv6; write it as IPv4, like 10.0.0.0/8", text)
	case prefix.Masked() != prefix:
		return prefix, fmt.Errorf("%q has bits set behind its length; write %s", text, prefix.Masked())
	}
	return prefix, nil
}

// Trust tells whether a peer's word counts. The zero Addr is a peer on a Unix
// socket, whose file's mode says who may be there.
func (p Proxies) Trust(peer netip.Addr) bool {
	peer = plain(peer)
	return !peer.IsValid() || slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(peer) })
}

// Client returns the address of the client: that of the peer, unless it is a
// trusted proxy, whose header says who asked it, and so on. Of a header the end
// is read first. Where nothing usable is said, it is the last address that is
// certain, the zero Addr if that was a peer on a Unix socket.
//
// Where both headers are there and say different things, one of them is what a
// proxy passed on from whoever wrote it: then it is the peer. The time that it
// takes is bounded by the length of the headers.
func (p Proxies) Client(peer netip.Addr, h http.Header) netip.Addr {
	peer = plain(peer)
	if !p.Trust(peer) {
		return peer
	}
	standard, usual := h["Forwarded"], h["X-Forwarded-For"]
	client := p.walk(peer, hops{lines: standard, parse: forwarded})
	if len(usual) == 0 {
		return client
	}
	other := p.walk(peer, hops{lines: usual, parse: xForwardedFor})
	if len(standard) == 0 || other == client {
		return other
	}
	return peer
}

// walk goes from proxy to proxy, up to the first that is not trusted.
func (p Proxies) walk(client netip.Addr, list hops) netip.Addr {
	for range maxHops {
		if !p.Trust(client) {
			break
		}
		hop := list.next()
		if !hop.IsValid() {
			break
		}
		client = plain(hop)
	}
	return client
}

// plain is how an address is compared: IPv4 inside IPv6 is IPv4, and no zone.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
