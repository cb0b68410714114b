package store

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of an address, in characters.
const (
	maxURLLength  = 2048
	maxHostLength = 253
)

// CheckEndpointURL checks the form of an endpoint's address: an https:// URL, or
// with httpOnLoopback also an http:// URL of this machine. Where it may lead is
// checked on dialing.
func CheckEndpointURL(address string, httpOnLoopback bool) error {
	if len(address) > maxURLLength {
		return Invalid("url", "has %d characters", len(address)).Advise("at most %d are allowed", maxURLLength)
	}
	u, err := url.Parse(address)
	if err != nil {
		return Invalid("url", "is not a URL such as https://example.com/hook")
	}
	if err := checkScheme(u, httpOnLoopback); err != nil {
		return err
	}
	switch {
	case u.Hostname() == "" || u.Opaque != "":
		return Invalid("url", "names no host")
	case !validHost(u.Hostname()):
		return Invalid("url", "has the host %.80q, which is no name and no address", u.Hostname())
	case !validPort(u):
		return Invalid("url", "has the port %.20q", u.Port()).Advise("ports go from 1 to 65535")
	case u.User != nil:
		return Invalid("url", "holds a user name or a password").Advise("leave them out")
	case u.Fragment != "" || strings.Contains(address, "#"):
		return Invalid("url", "holds a fragment (#…)").Advise("leave it out")
	}
	return nil
}

func checkScheme(u *url.URL, httpOnLoopback bool) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http" || !httpOnLoopback:
		return Invalid("url", "must start with https://")
	case !isLoopback(u.Hostname()):
		return Invalid("url", "must start with https://").Advise("http:// is for receivers on this machine, such as http://127.0.0.1:8080/hook")
	}
	return nil
}

// isLoopback reports whether a host is this machine's, by its address or the name
// localhost.
func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback() || strings.EqualFold(host, "localhost")
}

// validHost reports whether a host is an IP address without a zone, or has the
// form of a name, in any script.
func validHost(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Zone() == ""
	}
	if len(host) > maxHostLength || !utf8.ValidString(host) {
		return false
	}
	for label := range strings.SplitSeq(strings.TrimSuffix(host, "."), ".") {
		if label == "" || strings.ContainsFunc(label, notInName) {
			return false
		}
	}
	return true
}

func notInName(r rune) bool {
	return !unicode.IsPrint(r) || r <= unicode.MaxASCII && !isIDByte(byte(r))
}

func validPort(u *url.URL) bool {
	if u.Port() == "" {
		return true
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	return err == nil && port > 0
}
