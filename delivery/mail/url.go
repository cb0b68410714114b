package mail

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode"
)

const urlForm = "write it like smtps://user:password@smtp.example.com"

// parseURL parses and checks a mail server's URL. The errors quote nothing before
// the host, and nothing of a URL with anything after the port: with an unescaped
// "/", "?" or "#" in the password, any part may be a piece of it.
func parseURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.New("mail URL can't be read: " + urlForm + ", with characters other than letters and digits in user and password percent-encoded (@ is %40)")
	}
	return u, cmp.Or(checkParts(u), checkHost(u), checkUser(u))
}

func checkParts(u *url.URL) error {
	const end = "mail URL must end after host and port: remove its "
	switch {
	case u.Scheme != "smtp" && u.Scheme != "smtps":
		return errors.New("mail URL must start with smtp:// or smtps://: " + urlForm)
	case u.RawQuery != "" || u.ForceQuery:
		return errors.New(end + "?query, or write a ? in the password as %3F")
	case u.Fragment != "":
		return errors.New(end + "#fragment, or write a # in the password as %23")
	case u.Path != "":
		return errors.New(end + "/path, or write a / in the password as %2F")
	}
	return nil
}

func checkHost(u *url.URL) error {
	host := u.Hostname()
	if host == "" {
		return errors.New("mail URL names no host: " + urlForm)
	}
	name := host
	if ip, err := netip.ParseAddr(host); err == nil {
		name = ip.Zone() // the one part that may be anything
	}
	if strings.ContainsFunc(name, notInName) {
		return fmt.Errorf("mail URL has the host %q, which is neither a DNS name nor an IP address: write a name in ASCII (xn--…), without spaces", host)
	}
	if port, err := strconv.Atoi(portOf(u)); err != nil || port < 1 || port > 65535 {
		return errors.New("mail URL has no usable port: use 1 to 65535, or leave it out")
	}
	return nil
}

func notInName(r rune) bool {
	letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	digit := '0' <= r && r <= '9'
	return !letter && !digit && r != '-' && r != '_' && r != '.'
}

// portOf is the URL's port or its scheme's.
func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "smtps":
		return "465"
	}
	return "587"
}

// checkUser requires both a user and a password, or neither.
func checkUser(u *url.URL) error {
	user := u.User.Username()
	password, _ := u.User.Password()
	switch {
	case user == "" && password != "":
		return errors.New("mail URL has a password and no user: " + urlForm)
	case user != "" && password == "":
		return errors.New("mail URL has a user and no password: " + urlForm)
	case strings.ContainsFunc(user+password, unicode.IsControl):
		// PLAIN ends each of them with a zero byte.
		return errors.New("mail URL has a control character (like %00 or %0A) in user or password: remove it")
	}
	return nil
}
