package app

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"teamdata/internal/canonical"
	"teamdata/internal/hint"
)

// CheckAddress checks the form of a flag's host:port to listen on: what passes only the
// system can refuse, for a host that is not of this machine or a port that is taken.
func CheckAddress(flag, address, example string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil || host != "" && !isHost(host) {
		return fmt.Errorf("%s %q is not host:port, such as %s", flag, address, example)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%s %q has no port from 0 to 65535, such as %s", flag, address, example)
	}
	return nil
}

// isHost reports whether a host is an IP address, or has the form of a name in ASCII.
func isHost(host string) bool {
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	for _, label := range labels {
		if label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return false
		}
	}
	return strings.Trim(labels[len(labels)-1], "0123456789") != "" // else it is an address that is none
}

// origin returns the origin that a --public-url names in the form that browsers give it;
// empty for an empty one.
func origin(publicURL string) (string, error) {
	if publicURL == "" {
		return "", nil
	}
	refused := func(why string) error {
		return hint.New("--public-url "+why, "write it like https://data.example.com, or with a port like https://data.example.com:8443")
	}
	u, err := canonical.URL(publicURL)
	switch {
	case err != nil:
		return "", refused("is not a URL")
	case u.Scheme != "https" && u.Scheme != "http":
		return "", refused("does not begin with https:// or http://")
	case u.User != nil:
		return "", refused("holds a user name or a password")
	case strings.Trim(u.Path, "/") != "" || strings.ContainsAny(publicURL, "?#"):
		return "", refused("goes on after the host, but the server is at its root")
	case !isHost(u.Hostname()):
		return "", refused("names no host")
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	switch {
	case u.Port() == "":
	case err != nil || port == 0:
		return "", refused("has no port from 1 to 65535")
	case u.Port() == defaultPorts[u.Scheme]:
		u.Host = strings.TrimSuffix(u.Host, ":"+u.Port())
	}
	return (&url.URL{Scheme: u.Scheme, Host: strings.TrimSuffix(u.Host, ":")}).String(), nil
}

// defaultPorts are left out of an origin.
var defaultPorts = map[string]string{"https": "443", "http": "80"}

// publicOrigin is the origin of --public-url; empty: there is none, or no valid one.
func (s *Settings) publicOrigin() string {
	valid, _ := origin(s.PublicURL)
	return valid
}
