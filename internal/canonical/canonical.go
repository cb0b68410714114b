// Package canonical writes names of hosts, URLs and mail addresses that people type, and
// numbers in the one form in which they go over the wire, and reads times that are in it.
//
// It imports nothing of ours. A new part of a URL that has several forms belongs here.
package canonical

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// ErrHost is the error of a host that is neither an address nor a name.
var ErrHost = errors.New("the host is neither a name nor an address")

// URL parses an http:// or https:// URL into the form in which it is sent: without blanks
// at its ends, with its host as [Host] writes it, and with %XX for each byte that RFC 3986
// does not allow in a path or a query. Escapes stay as they are, so that %2F remains no
// slash. The canonical form of a canonical URL is the same.
func URL(text string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil {
		return nil, err
	}
	host, err := Host(u.Hostname())
	if err != nil {
		return nil, err
	}
	switch port := u.Port(); {
	case port != "":
		u.Host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		u.Host = "[" + host + "]"
	default:
		u.Host = host
	}
	u.RawPath = escaped(cmp.Or(u.RawPath, u.EscapedPath()))
	u.RawQuery = escaped(u.RawQuery)
	return u, nil
}

// Host returns a host as the DNS, TLS and the Host header have it: in small letters, and
// in ASCII if it is a name in another script (xn--…). net/http maps such a name for TLS,
// and for the header only encodes it, so that Bücher.example and BÜCHER.example would be
// two hosts there.
func Host(host string) (string, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.String(), nil
	}
	if !strings.ContainsFunc(host, func(r rune) bool { return r >= utf8.RuneSelf }) {
		return strings.ToLower(host), nil // with the underscores that IDNA does not allow
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrHost, err)
	}
	return ascii, nil
}

const inNames = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"

// IsName reports whether a text is a host's name in ASCII, without a period at its end, as
// RFC 1123, section 2.1, has it. Its labels may have more characters besides, such as _.
func IsName(text, more string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if label == "" || len(label) > 63 || strings.Trim(label, "-") != label || strings.Trim(label, inNames+more) != "" {
			return false
		}
	}
	return len(text) <= 253
}

// Address returns a mail address with its domain as [Host] writes it: that is what every
// server takes. Only one with SMTPUTF8 takes another script before the @.
func Address(address string) (string, error) {
	at := strings.LastIndexByte(address, '@') + 1
	domain, err := Host(address[at:])
	return address[:at] + domain, err
}

// escaped writes %XX for what may stand neither in a path nor in a query, a % that
// begins no escape among it.
func escaped(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if isAllowed(c) || c == '%' && i+2 < len(text) && isHex(text[i+1]) && isHex(text[i+2]) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// isAllowed reports whether RFC 3986 has c in a path or a query.
func isAllowed(c byte) bool {
	return strings.IndexByte(inNames+"._~!$&'()*+,;=:@/?", c) >= 0
}

func isHex(c byte) bool { return strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 }
