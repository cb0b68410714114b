package egress

import (
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	for url, address := range map[string]string{
		"http://proxy.corp:3128":           "proxy.corp:3128",
		"https://ann:p%40ss@10.0.0.1:443/": "10.0.0.1:443",
		"http://ann@[::1]:3128":            "[::1]:3128",
	} {
		if p, err := New(Config{URL: url}); err != nil || p.Address() != address {
			t.Errorf("%s: %v, %v", url, p, err)
		}
	}
	for _, url := range []string{
		"", "proxy.corp:3128", "http://ann:s3cret@proxy.corp", "socks5://ann:s3cret@proxy.corp:1080", "http://ann:s3cret@:3128", "http://ann:s3cret@proxy.corp:70000",
		"http://ann:s3cret@proxy.corp:3128/path", "http://ann:s3cret@proxy.corp:3128?x", "http://ann:s3c ret/@proxy.corp:3128", "http://a%3Ann:s3cret@proxy.corp:3128",
		"http://ann:s3cret@proxy.corp:0", "http://ann:s3cret@proxy corp:3128",
	} {
		_, err := New(Config{URL: url})
		if err == nil || !strings.HasPrefix(err.Error(), "--egress-proxy") || strings.Contains(err.Error(), "s3c") || strings.Contains(err.Error(), "ann") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestExceptions(t *testing.T) {
	e, err := parseExceptions([]string{"Hooks.corp", ".intern.example", " 10.0.0.0/8", "192.0.2.7", "fd00::/8", "bücher.example"})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"hooks.corp": true, "a.hooks.corp": false, "xhooks.corp": false, "a.intern.example": true, "a.b.intern.example": true,
		"intern.example": false, "xintern.example": false, "xn--bcher-kva.example": true, "10.0.0.1": false,
	} {
		if e.hasName(host) != want {
			t.Errorf("%s is excepted: %t", host, !want)
		}
	}
	for _, entry := range []string{"", "*", "*.corp", "hooks.corp:443", "10.0.0.0/33", "10.0.0", "https://hooks.corp", "."} {
		if _, err := parseExceptions([]string{entry}); err == nil || !strings.Contains(err.Error(), "--egress-proxy-except: ") {
			t.Errorf("%q: %v", entry, err)
		}
	}
}
