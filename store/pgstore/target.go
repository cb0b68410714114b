package pgstore

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// IsURL reports whether data names a database and not a file.
func IsURL(data string) bool {
	return strings.HasPrefix(data, "postgres://") || strings.HasPrefix(data, "postgresql://")
}

// Target is a database that --data names.
type Target struct {
	url       string
	place     string
	warning   string
	passwords bool
}

// ParseTarget reads the URL of a database as libpq does, with its environment
// variables, service and password files. A server that is not on this machine is to
// prove who it is (sslmode=verify-full) unless the URL, the environment or the
// service sets another sslmode. Its errors never hold a password.
func ParseTarget(databaseURL string) (*Target, error) {
	t := &Target{url: databaseURL}
	if stray(databaseURL) {
		return nil, errURL
	}
	config, err := parseConfig(databaseURL)
	if err != nil {
		return nil, err
	}
	if distant(config) && leftOpen(databaseURL, config) {
		t.url = withVerification(databaseURL)
		if config, err = parseConfig(t.url); err != nil {
			return nil, err
		}
		if weakness(config) != "" {
			return nil, errURL // a question mark in another place than before the options
		}
	}
	t.place = place(config)
	t.warning = weakness(config)
	if t.warning != "" {
		t.warning = fmt.Sprintf("%s %s; sslmode=verify-full is safe", t.place, t.warning)
	}
	u, err := url.Parse(databaseURL)
	t.passwords = err != nil || u.Query().Has("password") || u.Query().Has("sslpassword")
	if err == nil && u.User != nil {
		_, set := u.User.Password()
		t.passwords = t.passwords || set
	}
	return t, nil
}

// ofLibpq are the parameters of libpq that pgconn doesn't know, and would send to the
// server as settings, which refuses them; with the values that are taken, nil for all.
// Those that are taken change nothing: a connection that hangs is noticed by our own
// limits, GSSAPI is never used, and of several hosts only the one that takes writes is.
var ofLibpq = map[string][]string{
	"keepalives": nil, "keepalives_idle": nil, "keepalives_interval": nil, "keepalives_count": nil, "tcp_user_timeout": nil,
	"gssencmode": {"disable", "prefer"}, "gssdelegation": {"0"}, "gsslib": nil,
	"load_balance_hosts": {"disable", "random"},
	"sslcompression":     {"0"}, "sslcrl": {}, "sslcrldir": {}, "ssl_min_protocol_version": {}, "ssl_max_protocol_version": {}, "sslkeylogfile": {},
	"hostaddr": {}, "requirepeer": {}, "requiressl": {}, "replication": {}, "fallback_application_name": {},
	"scram_client_key": {}, "scram_server_key": {},
	"oauth_issuer": {}, "oauth_client_id": {}, "oauth_client_secret": {}, "oauth_scope": {},
}

// parseConfig reads the URL of a database, and leaves out what changes nothing.
func parseConfig(databaseURL string) (*pgconn.Config, error) {
	config, err := pgconn.ParseConfig(databaseURL)
	if err != nil {
		return nil, parseRefusal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(config.RuntimeParams)) {
		taken, known := ofLibpq[name]
		switch {
		case !known:
		case taken == nil || slices.Contains(taken, config.RuntimeParams[name]):
			delete(config.RuntimeParams, name)
		case len(taken) == 0:
			return nil, &Error{Text: "--data sets " + name + ", a parameter of libpq that teamdata does not have", Advice: "leave it out"}
		default:
			return nil, &Error{Text: "--data sets " + name + " to a value that teamdata does not have", Advice: "leave it out, or use " + strings.Join(taken, " or ")}
		}
	}
	return config, nil
}

// String names the database for people: role, hosts and name, without password and
// options.
func (t *Target) String() string { return t.place }

// Warning says what is unsafe about the connection that the URL asks for; it is
// empty if nothing is.
func (t *Target) Warning() string { return t.warning }

// HasPassword reports whether the URL itself holds a password, which others could
// read if it were an argument of a program.
func (t *Target) HasPassword() bool { return t.passwords }

// stray reports whether a URL has an @ that does not end the role and password: a
// password with a special character in it, parts of which would be taken for a host.
func stray(databaseURL string) bool {
	_, rest, _ := strings.Cut(databaseURL, "://")
	i := strings.IndexAny(rest, "@/?")
	if i >= 0 && rest[i] == '@' {
		rest = rest[i+1:]
	}
	return strings.Contains(rest, "@")
}

// leftOpen reports whether nobody has chosen an sslmode.
func leftOpen(databaseURL string, config *pgconn.Config) bool {
	_, options, _ := strings.Cut(databaseURL, "?")
	chosen := regexp.MustCompile(`(^|&)ssl(mode)?=`).MatchString(options) || os.Getenv("PGSSLMODE") != ""
	return !chosen && isPrefer(config)
}

// isPrefer reports whether a configuration is that of sslmode=prefer, the default of
// libpq: TLS with whoever answers, or none.
func isPrefer(config *pgconn.Config) bool {
	verified, unverified, plain := false, false, false
	for _, e := range endpoints(config) {
		plain = plain || e.TLSConfig == nil
		unverified = unverified || e.TLSConfig != nil && e.TLSConfig.InsecureSkipVerify
		verified = verified || e.TLSConfig != nil && !e.TLSConfig.InsecureSkipVerify
	}
	return plain && unverified && !verified
}

func withVerification(databaseURL string) string {
	if strings.Contains(databaseURL, "?") {
		return databaseURL + "&sslmode=verify-full"
	}
	return databaseURL + "?sslmode=verify-full"
}

// endpoints are the addresses of a configuration with their TLS, in the order in
// which they are tried.
func endpoints(config *pgconn.Config) []*pgconn.FallbackConfig {
	first := &pgconn.FallbackConfig{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}
	return append([]*pgconn.FallbackConfig{first}, config.Fallbacks...)
}

// distant reports whether an address is not on this machine.
func distant(config *pgconn.Config) bool {
	return slices.ContainsFunc(endpoints(config), func(e *pgconn.FallbackConfig) bool { return isDistant(e.Host, e.Port) })
}

func isDistant(host string, port uint16) bool {
	if network, _ := pgconn.NetworkAddress(host, port); network == "unix" || host == "localhost" {
		return false
	}
	ip := net.ParseIP(host)
	return ip == nil || !ip.IsLoopback()
}

// weakness says what somebody on the way to the database could do; it is empty where
// that is nothing.
func weakness(config *pgconn.Config) string {
	for _, e := range endpoints(config) {
		switch {
		case !isDistant(e.Host, e.Port):
		case e.TLSConfig == nil:
			return "is used without TLS, so that anybody on the way can read and change the data"
		case e.TLSConfig.InsecureSkipVerify && e.TLSConfig.VerifyPeerCertificate == nil:
			return "is not asked to prove who it is, so that anybody on the way can pose as it"
		case e.TLSConfig.InsecureSkipVerify:
			return "may have the certificate of any name, so that another server of the same CA can pose as it"
		}
	}
	return ""
}

// place is the URL of a database without its password and options.
func place(config *pgconn.Config) string {
	var hosts []string
	socket := ""
	for _, e := range endpoints(config) {
		network, address := pgconn.NetworkAddress(e.Host, e.Port)
		if network == "unix" {
			socket = "?host=" + e.Host
			continue
		}
		if len(hosts) == 0 || hosts[len(hosts)-1] != address { // once with TLS and without
			hosts = append(hosts, address)
		}
	}
	return "postgres://" + config.User + "@" + strings.Join(hosts, ",") + "/" + cmp.Or(config.Database, config.User) + socket
}
