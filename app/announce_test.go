package app

import (
	"net"
	"testing"

	"teamdata/e2e/kit"
)

func TestPublicURL(t *testing.T) {
	l := kit.Loopback(t)
	_, port, _ := net.SplitHostPort(l.Addr().String())
	domains := []string{"data.example.com", "other.example.com"}
	for want, s := range map[string]Settings{
		"https://given.example":            {PublicURL: "https://given.example", Domains: domains},
		"https://data.example.com":         {Domains: domains},
		"https://data.example.com:" + port: {Domains: domains, ACMEHTTP: ":80"},
		"http://localhost:" + port:         {},
	} {
		a := &App{settings: s, listener: l}
		if got := a.publicURL(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
