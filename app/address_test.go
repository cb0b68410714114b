package app

import (
	"strings"
	"testing"
)

// A public URL is an origin in the form that browsers give it, or refused.
func TestOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		"https://data.example.com":      "https://data.example.com",
		"https://data.example.com/":     "https://data.example.com",
		" https://data.example.com\r\n": "https://data.example.com",
		"HTTPS://Data.Example.COM:443/": "https://data.example.com",
		"http://localhost:80":           "http://localhost",
		"http://127.0.0.1:8080":         "http://127.0.0.1:8080",
		"https://[2001:DB8::1]:8443":    "https://[2001:db8::1]:8443",
		"https://[::1]:443":             "https://[::1]",
		"https://Bücher.example":        "https://xn--bcher-kva.example",

		"foo":                            "! does not begin with https:// or http://",
		"data.example.com":               "! does not begin with https:// or http://",
		"ftp://data.example.com":         "! does not begin with https:// or http://",
		"https://":                       "! names no host",
		"https:data.example.com":         "! names no host",
		"https://data.example.com/td":    "! goes on after the host",
		"https://data.example.com?":      "! goes on after the host",
		"https://data.example.com/#":     "! goes on after the host",
		"https://td@data.example.com":    "! holds a user name or a password",
		"https://data.example.com:0":     "! has no port from 1 to 65535",
		"https://data.example.com:1e3":   "! is not a URL",
		"https://data.example.com:65536": "! has no port from 1 to 65535",
		"https://data example.com":       "! is not a URL",
		"https://\"data.example.com\"":   "! ",
		"https://a..example.com":         "! names no host",
		"https://300.1.1.1":              "! names no host",
	} {
		got, err := origin(text)
		if err != nil {
			got = err.Error()
		}
		if why, refused := strings.CutPrefix(want, "!"); refused != (err != nil) || !strings.HasPrefix(got, "--public-url"+why) && refused || !refused && got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}

// An address to listen on that passes is one that the system takes, if it is its own.
func TestCheckAddress(t *testing.T) {
	for _, valid := range []string{":0", "127.0.0.1:8443", "[::1]:1", "[fe80::1%eth0]:65535", "localhost:80", "node_1.internal.:80"} {
		if err := CheckAddress("--listen", valid, "x"); err != nil {
			t.Errorf("%s: %v", valid, err)
		}
	}
	for _, wrong := range []string{"", "8443", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:-1", "127.0.0.1:http ", `"127.0.0.1:8443"`, "'127.0.0.1':80", "127.0.0.1:80\r", "127.0.0.1\r:80", "256.0.0.1:80", "a b:80", "bücher.example:80", "a..b:80"} {
		if err := CheckAddress("--listen", wrong, "x"); err == nil || !strings.Contains(err.Error(), "such as x") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// What is meant for a database makes no file, and no error shows the password in it.
func TestCheckData(t *testing.T) {
	for _, valid := range []string{"", "teamdata.db", "./host=x", "/var/lib/my data.db", `C:\teamdata.db`, "C:/teamdata.db", "postgres://td@db.example/td"} {
		if err := CheckData("--data", valid); err != nil {
			t.Errorf("%s: %v", valid, err)
		}
	}
	for wrong, why := range map[string]string{
		"host=db.example password=s3cret":          "is a list of parameters",
		"password = 's3cret' host=db.example":      "is a list of parameters",
		"POSTGRES://td:s3cret@db.example/td":       "is a URL, but",
		"mysql://td:s3cret@db.example/td":          "is a URL, but",
		"postgres:/td:s3cret@db.example/td":        "is a URL, but",
		" postgres://td:s3cret@db.example/td":      "begins or ends with a space",
		"teamdata.db\r":                            "begins or ends with a space",
		"team\x00data.db":                          "holds a character that is not visible",
		"\ufeffpostgres://td:s3cret@db.example/td": "holds a character that is not visible",
		`"teamdata.db"`:                            "begins with a quotation mark",
		"'postgres://td:s3cret@db.example/td'":     "begins with a quotation mark",
	} {
		err := CheckData("--from", wrong)
		if err == nil || !strings.HasPrefix(err.Error(), "--from "+why) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}
