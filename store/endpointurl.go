package store

import (
	"errors"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"teamdata/internal/canonical"
)

// Bounds of an address, in characters.
const (
	maxURLLength  = 2048
	maxHostLength = 253
)

// endpointURL returns an endpoint's address in the form in which it is stored and sent. It
// has to be an https:// URL, or with httpOnLoopback also an http:// URL of this machine.
// Where it may lead is checked on dialing.
func endpointURL(address string, httpOnLoopback bool) (string, error) {
	address = strings.TrimSpace(address)
	u, err := canonical.URL(address)
	switch i := strings.IndexFunc(address, isInvisible); {
	case !utf8.ValidString(address):
		return "", Invalid("url", "is not UTF-8")
	case i >= 0:
		r, size := utf8.DecodeRuneInString(address[i:])
		return "", Invalid("url", "holds the invisible character %U", r).Advise("leave it out, or write it as %s", url.QueryEscape(address[i:i+size]))
	case errors.Is(err, canonical.ErrHost):
		return "", Invalid("url", "has a host that is neither a name nor an address")
	case err != nil:
		return "", Invalid("url", "is not a URL such as https://example.com/hook")
	case strings.Contains(address, "#"):
		return "", Invalid("url", "holds a fragment (#…)").Advise("leave it out")
	}
	return u.String(), checkURL(u, httpOnLoopback)
}

// isInvisible reports whether r shows in no way, not even as a blank.
func isInvisible(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }

// checkURL checks a canonical URL.
func checkURL(u *url.URL, httpOnLoopback bool) error {
	plain := u.Scheme == "http" && httpOnLoopback
	switch n := len(u.String()); {
	case u.Scheme != "https" && !plain:
		return Invalid("url", "must start with https://")
	case plain && !isLoopback(u.Hostname()):
		return Invalid("url", "must start with https://").Advise("http:// is for receivers on this machine, such as http://127.0.0.1:8080/hook")
	case n > maxURLLength:
		return Invalid("url", "has %d characters", n).Advise("at most %d are allowed", maxURLLength)
	case u.Hostname() == "" || u.Opaque != "":
		return Invalid("url", "names no host")
	case !validHost(u.Hostname()):
		return Invalid("url", "has the host %.80q, which is neither a name nor an address", u.Hostname())
	case !validPort(u):
		return Invalid("url", "has the port %.20q", u.Port()).Advise("ports go from 1 to 65535")
	case u.User != nil:
		return Invalid("url", "holds a user name or a password").Advise("leave them out")
	}
	return nil
}

// isLoopback reports whether a host is this machine's, by its address or the name
// localhost.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// validHost reports whether a canonical host is an IP address without a zone, or has
// the form of a name.
func validHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	if len(host) > maxHostLength {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || strings.ContainsFunc(label, notInID) {
			return false
		}
	}
	return true
}

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port > 0
}
