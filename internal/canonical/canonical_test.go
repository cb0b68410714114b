package canonical

import (
	"bufio"
	"bytes"
	"net/http"
	"regexp"
	"testing"
)

func TestURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://example.com":                                        "https://example.com",
		" \t\r\nhttps://example.com/hook \u00a0\u3000\n":             "https://example.com/hook",
		"HTTPS://Example.COM:8443/Hook?A=B":                          "https://example.com:8443/Hook?A=B",
		"https://example.com:/":                                      "https://example.com/",
		"https://my_host.example./":                                  "https://my_host.example./",
		"https://Bücher.example/":                                    "https://xn--bcher-kva.example/",
		"https://BÜCHER。example:1/":                                  "https://xn--bcher-kva.example:1/",
		"https://straße.example/":                                    "https://xn--strae-oqa.example/",
		"https://１２７.０.０.１/":                                         "https://127.0.0.1/",
		"https://[2001:DB8:0::1]/":                                   "https://[2001:db8::1]/",
		"https://[2001:DB8:0::1]:1/":                                 "https://[2001:db8::1]:1/",
		"https://example.com?":                                       "https://example.com?",
		"https://example.com/?team=Acme Inc&x=ü":                     "https://example.com/?team=Acme%20Inc&x=%C3%BC",
		"https://example.com/?a=\u200b":                              "https://example.com/?a=%E2%80%8B",
		"https://example.com/?a=\xff":                                "https://example.com/?a=%FF",
		"https://example.com/?a=100%&b=%zz%4":                        "https://example.com/?a=100%25&b=%25zz%254",
		"https://example.com/?a=%2f%C3%bc+b":                         "https://example.com/?a=%2f%C3%bc+b",
		`https://example.com/?a[]={"<|>"}` + "`^\\":                  "https://example.com/?a%5B%5D=%7B%22%3C%7C%3E%22%7D%60%5E%5C",
		"https://example.com/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?": "https://example.com/-._~!$&'()*+,;=:@/?-._~!$&'()*+,;=:@/?",
		"https://example.com/a b%2Fc/ü/%C3%bc":                       "https://example.com/a%20b%2Fc/%C3%BC/%C3%bc",
		"https://example.com//a/../b":                                "https://example.com//a/../b",
		`https://example.com/a\b[1]`:                                 "https://example.com/a%5Cb%5B1%5D",
	} {
		u, err := URL(text)
		if err != nil || u.String() != want {
			t.Errorf("%q is %v (%v), not %s", text, u, err, want)
			continue
		}
		if again, err := URL(u.String()); err != nil || *again != *u {
			t.Errorf("%q is %v, and that is %v: %v", text, u, again, err)
		}
	}
	for _, text := range []string{"https://exa mple.com/", "https://é_1.example/", "https://example.com/%zz", "https://example.com/a\nb", "://"} {
		if u, err := URL(text); err == nil {
			t.Errorf("%q is %v", text, u)
		}
	}
}

// FuzzURL holds what goes out to the grammar of HTTP, and what is written once to itself.
func FuzzURL(f *testing.F) {
	target := regexp.MustCompile(`^/(?:[-._~!$&'()*+,;=:@/?A-Za-z0-9]|%[0-9A-Fa-f]{2})*$`)
	f.Fuzz(func(t *testing.T, text string) {
		u, err := URL("https://" + text)
		if err != nil || u.User != nil || u.Opaque != "" || u.Fragment != "" {
			return
		}
		if again, err := URL(u.String()); err != nil || again.String() != u.String() {
			t.Fatalf("%q is %v, and that is %v: %v", text, u, again, err)
		}
		var b bytes.Buffer
		q := http.Request{Method: "POST", URL: u, Host: u.Host}
		if q.Write(&b) != nil {
			return // an impossible host
		}
		got, err := http.ReadRequest(bufio.NewReader(&b))
		if err != nil {
			t.Fatalf("%q goes out so that nobody can read it: %v", text, err)
		}
		if !target.MatchString(got.RequestURI) {
			t.Errorf("%q goes out to %q, and not to %v", text, got.RequestURI, u)
		}
	})
}
