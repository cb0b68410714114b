package main

import (
	"net"
	"testing"
)

func TestPublicURL(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	domain := tlsSettings{Domains: []string{"data.example.com", "other.example.com"}}
	byHTTP := domain
	byHTTP.ACMEHTTP = ":80"
	for want, s := range map[string]settings{
		"https://given.example":            {PublicURL: "https://given.example", tlsSettings: domain},
		"https://data.example.com":         {tlsSettings: domain},
		"https://data.example.com:" + port: {tlsSettings: byHTTP},
		"http://127.0.0.1:" + port:         {},
	} {
		a := &appliance{settings: s, listener: l}
		if got := a.publicURL(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
