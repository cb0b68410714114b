// Package clientaddr finds the client of a request that came through proxies. Each
// proxy appends the address that it saw to a header, Forwarded (RFC 7239) or
// X-Forwarded-For. Clients can write such headers too, so an address counts only if a
// trusted proxy has added it.
//
// It imports only internal/hint. clientaddr.go decides which headers count and in
// which order; hops.go and forwarded.go parse them.
package clientaddr

import (
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"teamdata/internal/hint"
)

// maxHops is the maximum number of proxies in a chain.
const maxHops = 32

// Proxies are the addresses of the trusted proxies.
type Proxies []netip.Prefix

var named = map[string][]string{
	"loopback": {"127.0.0.0/8", "::1/128"},
	"private":  {"10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"},
}

// Parse reads CIDRs and addresses, and the names loopback and private. The error is one
// line that quotes the wrong entry.
func Parse(list []string) (p Proxies, err error) {
	for _, text := range list {
		text = strings.TrimSpace(text)
		group, ok := named[text]
		if !ok {
			group = []string{text}
		}
		for _, text := range group {
			prefix, err := parsePrefix(text)
			if err != nil {
				return nil, err
			}
			p = append(p, prefix)
		}
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
		return prefix, hint.With(fmt.Errorf("%q is not a CIDR or an address", text), "write it like 10.0.0.0/8, 192.0.2.7, loopback or private")
	case prefix.Addr().Is4In6():
		return prefix, hint.With(fmt.Errorf("%q is IPv4 inside IPv6", text), "write it as IPv4, like 10.0.0.0/8")
	case prefix.Masked() != prefix:
		return prefix, hint.With(fmt.Errorf("%q has bits set after its length", text), "write "+prefix.Masked().String())
	}
	return prefix, nil
}

// Trust reports whether the headers of a peer count. The zero Addr is a peer on a
// Unix socket, where the file's mode decides who may connect.
func (p Proxies) Trust(peer netip.Addr) bool {
	peer = plain(peer)
	return !peer.IsValid() || slices.ContainsFunc(p, func(prefix netip.Prefix) bool { return prefix.Contains(peer) })
}

// Client returns the address of the client: that of the peer, unless it is a trusted
// proxy; then the one that the proxy's header names, and so on, from the end of the
// header. Where the header ends or is unusable, it is the last address that is
// certain, the zero Addr if that was a peer on a Unix socket.
//
// If both headers are present and disagree, a proxy passed one on unchecked, and
// the peer counts as the client. The time taken is bounded by the length of the
// headers.
func (p Proxies) Client(peer netip.Addr, h http.Header) netip.Addr {
	peer = plain(peer)
	if !p.Trust(peer) {
		return peer
	}
	standard, usual := h["Forwarded"], h["X-Forwarded-For"]
	client := p.walk(peer, standard, forwarded)
	if len(usual) == 0 {
		return client
	}
	other := p.walk(peer, usual, xForwardedFor)
	if len(standard) == 0 || other == client {
		return other
	}
	return peer
}

// walk follows the chain of proxies to the first address that is not trusted. parse returns
// the zero Addr for an element that contains no address. Empty elements are skipped.
func (p Proxies) walk(client netip.Addr, lines []string, parse func(element string) netip.Addr) netip.Addr {
	hops := 0
	for element := range elements(lines) {
		if element = strings.Trim(element, space); element == "" {
			continue
		}
		if hops == maxHops || !p.Trust(client) {
			break
		}
		hop := parse(element)
		if !hop.IsValid() {
			break
		}
		client, hops = plain(hop), hops+1
	}
	return client
}

// plain is the form in which addresses are compared: IPv4 inside IPv6 is IPv4, and
// there is no zone.
func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }
