package mail

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	gomail "github.com/wneessen/go-mail"
)

func config(url string) Config {
	return Config{URL: url, From: "alerts@example.com", SettingsURL: "https://teamdata.example.com"}
}

func TestURL(t *testing.T) {
	t.Parallel()
	const must, may = gomail.TLSMandatory, gomail.TLSOpportunistic
	for url, want := range map[string]struct {
		address  string
		implicit bool
		policy   gomail.TLSPolicy
	}{
		"smtp://smtp.example.com":          {"smtp.example.com:587", false, must},
		"smtps://smtp.example.com":         {"smtp.example.com:465", true, may},
		"SMTPS://u:p@smtp.example.com:":    {"smtp.example.com:465", true, may},
		"smtp://u:p@smtp.example.com:2525": {"smtp.example.com:2525", false, must},
		"smtp://10.0.0.1:25":               {"10.0.0.1:25", false, must},
		"smtp://[2001:db8::1]":             {"[2001:db8::1]:587", false, must},
		"smtp://localhost:25":              {"localhost:25", false, may},
		"smtp://127.0.0.2":                 {"127.0.0.2:587", false, may},
		"smtp://[::1]:25":                  {"[::1]:25", false, may},
		"smtp://[::ffff:127.0.0.1]":        {"[::ffff:127.0.0.1]:587", false, may},
		"smtp://u:p@localhost":             {"localhost:587", false, must},
		"smtp://localhost.example.com":     {"localhost.example.com:587", false, must},
		"smtps://u:p@p@smtp.example.com":   {"smtp.example.com:465", true, may},
		"smtp://@my_relay":                 {"my_relay:587", false, must},
	} {
		s, err := New(config(url))
		if err != nil {
			t.Errorf("%s: %v", url, err)
			continue
		}
		u, _ := parseURL(url)
		if got := s.relay; got.address != want.address || got.implicit != want.implicit || got.policy(u.User) != want.policy {
			t.Errorf("%s is %s, %v, %v", url, got.address, got.implicit, got.policy(u.User))
		}
		if s.timeout != 30*time.Second {
			t.Errorf("a mail may take %s", s.timeout)
		}
	}
}

func TestURLRefused(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"":                              "start with smtp:// or smtps://",
		"smtp.example.com:25":           "start with smtp:// or smtps://",
		"s3cret:s3cret@host":            "start with smtp:// or smtps://",
		"https://u:s3cret@host":         "start with smtp:// or smtps://",
		"smtp:host":                     "no host",
		"smtp://":                       "no host",
		"smtp://u:s3cret@":              "no host",
		"smtp://u:s3cret@:25":           "no host",
		"smtp://u:s3cret@host/":         "remove its /path",
		"smtp://u:s3cret@host?tls=no":   "remove its ?query",
		"smtp://u:s3cret@host?":         "remove its ?query",
		"smtp://u:s3cret@host#x":        "remove its #fragment",
		"smtp://u:1/s3cret@host":        "%2F",
		"smtp://u:1?s3cret@host":        "%3F",
		"smtp://u:1#s3cret@host":        "%23",
		"smtp://u:a/s3cret@host":        "percent-encoded",
		"smtp://u:s3cret%zz@host":       "percent-encoded",
		"smtp://u:s3 cret@host":         "percent-encoded",
		"smtp://u:s3cret@ho st":         "percent-encoded",
		"smtp://u:s3cret@host:port":     "percent-encoded",
		"smtp://u:s3cret@host:0":        "1 to 65535",
		"smtp://u:s3cret@host:65536":    "1 to 65535",
		"smtp://u:s3cret@bücher.de":     "xn--",
		"smtp://u:s3cret@host,other":    "neither a DNS name nor an IP address",
		"smtp://u@host":                 "no password",
		"smtp://u:@host":                "no password",
		"smtp://:s3cret@host":           "no user",
		"smtp://u:s3cret%00@host":       "control character",
		"smtp://u%0D%0A:s3cret@host":    "control character",
		"smtp://u:s3cret@host\r\nQUIT":  "percent-encoded",
		"smtp://u:s3cret@[::1":          "percent-encoded",
		"smtp://u:s3cret@[not::an:ip:]": "percent-encoded",
	} {
		_, err := New(config(url))
		if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\r\n") {
			t.Errorf("%q: %v, want %q", url, err, want)
		} else if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "cret") {
			t.Errorf("%q: the error %q holds the password", url, err)
		}
	}
}

func TestConfigRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*Config)
		want   string
	}{
		"no sender":        {func(c *Config) { c.From = "" }, "write it like Teamdata <"},
		"no address":       {func(c *Config) { c.From = "Teamdata" }, "write it like Teamdata <"},
		"two senders":      {func(c *Config) { c.From = "a@b.example, c@d.example" }, "write it like Teamdata <"},
		"a header more":    {func(c *Config) { c.From = "a@b.example\r\nBcc: c@d.example" }, "write it like Teamdata <"},
		"quoted":           {func(c *Config) { c.From = `"a b"@b.example` }, "write it like Teamdata <"},
		"beyond ASCII":     {func(c *Config) { c.From = "älerts@bücher.example" }, "non-ASCII"},
		"no settings":      {func(c *Config) { c.SettingsURL = "" }, "write it like https://"},
		"script":           {func(c *Config) { c.SettingsURL = "javascript://x/%0aalert(1)" }, "write it like https://"},
		"settings path":    {func(c *Config) { c.SettingsURL = "/settings" }, "write it like https://"},
		"negative timeout": {func(c *Config) { c.Timeout = -time.Second }, "give a positive one"},
	} {
		c := config("smtps://smtp.example.com")
		test.change(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}

func TestSenderDoesNotPrintPassword(t *testing.T) {
	t.Parallel()
	s, err := New(config("smtps://us3r:s3cret@smtp.example.com"))
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %#v %+v %#v", s, s, s, s.relay, s.relay); strings.Contains(text, "s3cret") {
		t.Errorf("printed %s", text)
	}
}

// Every URL that is accepted has a host and a port, and allows plain text only to
// this machine.
func FuzzURL(f *testing.F) {
	for _, url := range []string{"smtp://u:p@host:25", "smtps://[::1]", "smtp://127.0.0.1", "smtp://u:%00@h", "smtp:h", "smtp://h/?#", "smtp://[fe80::1%25eth0]"} {
		f.Add(url)
	}
	f.Fuzz(func(t *testing.T, url string) {
		s, err := New(config(url))
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q: %q is no line", url, err)
			}
			return
		}
		host, port, err := net.SplitHostPort(s.relay.address)
		if n, _ := strconv.Atoi(port); err != nil || host == "" || n < 1 || n > 65535 {
			t.Fatalf("%q became %q", url, s.relay.address)
		}
		u, _ := parseURL(url)
		ip, _ := netip.ParseAddr(host)
		local := strings.EqualFold(host, "localhost") || ip.IsLoopback()
		if s.relay.policy(u.User) != gomail.TLSMandatory && !s.relay.implicit && (!local || u.User.Username() != "") {
			t.Fatalf("%q may be sent in plain text", url)
		}
	})
}
