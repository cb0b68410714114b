package cli

import (
	"testing"
)

func TestServerURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://data.example.com":       "https://data.example.com",
		"https://data.example.com:8443/": "https://data.example.com:8443",
		"https://example.com/data/":      "https://example.com/data",
		"http://127.0.0.1:8080":          "http://127.0.0.1:8080",
		"http://[::1]:8080":              "http://[::1]:8080",
		"http://localhost:8080":          "http://localhost:8080",
		"http://data.example.com":        "", "http://127.0.0.1.example.com": "", "https://u:p@example.com": "",
		"https://example.com?a=b": "", "https://example.com#a": "", "https://": "", "example.com": "", "ftp://example.com": "", "": "", "https://%": "",
	} {
		if got, err := serverURL(text); got != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q, %v", text, got, err)
		}
	}
}
