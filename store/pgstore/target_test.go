package pgstore

import (
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"
)

func TestParseTarget(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for _, c := range []struct {
		url, env string // NAME=VALUE
		place    string // or the error
		verified bool
		warning  string
		password bool
	}{
		{url: "postgres://td:" + secret + "@db.example.com/data", place: "postgres://td@db.example.com:5432/data", verified: true, password: true},
		{url: "postgresql://td@db.example.com:6432/data?application_name=x", place: "postgres://td@db.example.com:6432/data", verified: true},
		{url: "postgres://td@[2001:db8::1]/data", place: "postgres://td@[2001:db8::1]:5432/data", verified: true},
		{url: "postgres://td@one.example.com,two.example.com:5433/data", place: "postgres://td@one.example.com:5432,two.example.com:5433/data", verified: true},
		{url: "postgres://td@db.example.com/data?sslmode=verify-full", place: "postgres://td@db.example.com:5432/data", verified: true},
		{url: "postgres://td@db.example.com/data?sslmode=verify-ca", place: "postgres://td@db.example.com:5432/data", warning: "another server of the same CA"},
		{url: "postgres://td@db.example.com/data?sslmode=require", place: "postgres://td@db.example.com:5432/data", warning: "can pose as it"},
		{url: "postgres://td@db.example.com/data?sslmode=prefer", place: "postgres://td@db.example.com:5432/data", warning: "can pose as it"},
		{url: "postgres://td@db.example.com/data", env: "PGSSLMODE=disable", place: "postgres://td@db.example.com:5432/data", warning: "without TLS"},
		{url: "postgres://td@127.0.0.1/data", place: "postgres://td@127.0.0.1:5432/data"},
		{url: "postgres://td@localhost/data?sslmode=disable", place: "postgres://td@localhost:5432/data"},
		{url: "postgres://td@/data?host=/run/postgresql", place: "postgres://td@/data?host=/run/postgresql"},
		{url: "postgres:///data", env: "PGHOST=db.example.com", place: "@db.example.com:5432/data", verified: true},
		{url: "postgres://td@db.example.com/data?password=" + secret, place: "postgres://td@db.example.com:5432/data", verified: true, password: true},

		{url: "postgres://td@db.example.com/data?keepalives=1&keepalives_idle=30&keepalives_interval=5&keepalives_count=3&tcp_user_timeout=9000", place: "postgres://td@db.example.com:5432/data", verified: true},
		{url: "postgres://td@db.example.com/data?gssencmode=disable&load_balance_hosts=random", place: "postgres://td@db.example.com:5432/data", verified: true},

		{url: "postgres://td@db.example.com/data?gssencmode=require", place: "--data sets gssencmode to a value that teamdata does not have"},
		{url: "postgres://td@db.example.com/data?sslcrl=/etc/crl.pem", place: "--data sets sslcrl, a parameter of libpq that teamdata does not have"},
		{url: "postgres://td:" + secret + "@x@db.example.com/data", place: "--data is not the URL"},
		{url: "postgres://td:/" + secret + "@db.example.com/data", place: "--data is not the URL"},
		{url: "postgres://td:12/" + secret + "@db.example.com/data", place: "--data is not the URL"},
		{url: "postgres://td:12?" + secret + "=@db.example.com/data", place: "--data is not the URL"},
		{url: "postgres://td:" + secret + "@db.example.com:port/data", place: "--data is not the URL"},
		{url: "postgres://td:" + secret + "%zz@db.example.com/data", place: "--data is not the URL"},
		{url: "postgres://td:" + secret + "@db.example.com/data?sslmode=safe", place: "sslmode is one of"},
		{url: "postgres://td:" + secret + "@db.example.com/data?sslrootcert=" + missing, place: missing + " can't be read: no such file"},
		{url: "postgres://td:" + secret + "@db.example.com/data?service=none", place: "names a service"},
		{url: "postgres://td:" + secret + "@db.example.com/data?target_session_attrs=x", place: "--data is not the URL"},
	} {
		t.Run(c.url, func(t *testing.T) {
			if name, value, ok := strings.Cut(c.env, "="); ok {
				t.Setenv(name, value)
			}
			target, err := ParseTarget(c.url)
			if err != nil {
				if !strings.Contains(err.Error(), c.place) || strings.Contains(err.Error(), secret) {
					t.Errorf("it is refused: %v", err)
				}
				return
			}
			if !strings.HasSuffix(target.String(), c.place) || target.HasPassword() != c.password {
				t.Errorf("it is %s, with a password: %v", target, target.HasPassword())
			}
			if got := target.Warning(); got == "" != (c.warning == "") || !strings.Contains(got, c.warning) || strings.Contains(got, secret) {
				t.Errorf("the warning is %q", got)
			}
			config, err := parseConfig(target.url)
			if err != nil {
				t.Fatal(err)
			}
			if len(config.RuntimeParams) > strings.Count(c.url, "application_name") {
				t.Errorf("the server is sent %v", config.RuntimeParams)
			}
			for _, e := range endpoints(config) {
				if verified := e.TLSConfig != nil && !e.TLSConfig.InsecureSkipVerify && e.TLSConfig.ServerName == e.Host; verified != c.verified && !(c.verified && net.ParseIP(e.Host) != nil) {
					t.Errorf("%s is verified: %v", e.Host, verified)
				}
			}
		})
	}
}

// Whatever a password holds, written into a URL as it is: no text shows it.
func FuzzParseTarget(f *testing.F) {
	for _, password := range []string{secret, "with@at-sign", "with/slash", "with:colon", "12/34567", "12?a=34567", "100%sure", "%zz%00", "[2001:db8", "a,b,c,d", "with space", "host=there"} {
		f.Add(password)
	}
	f.Fuzz(func(t *testing.T, password string) {
		if len(password) < 5 || strings.Contains("postgres://td:@db.example.com:5432/data"+errURL.Error(), password) {
			return
		}
		target, err := ParseTarget("postgres://td:" + password + "@db.example.com/data")
		if err == nil {
			err = errors.New(target.String() + target.Warning())
		}
		if strings.Contains(err.Error(), password) {
			t.Errorf("%q is shown: %v", password, err)
		}
	})
}
