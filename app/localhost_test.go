package app

import (
	"net"
	"net/netip"
	"testing"

	"teamdata/e2e/kit"
)

// Browsers find localhost at 127.0.0.1 or at ::1, so that the demo takes a port that is free
// on both. No webhook may be sent to either.
func TestLocalhost(t *testing.T) {
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		kit.MustSkip(t, "there is no IPv6 here: "+err.Error())
	} else {
		l.Close()
	}
	if other, err := net.Listen("tcp", "[::1]:"+localhostPort); err == nil { // else it is taken anyhow
		defer other.Close()
	}
	a := &App{settings: Settings{Demo: true}}
	kit.Must(t, a.openLocalhost())
	defer a.localhost[0].close()
	defer a.localhost[1].close()
	port := portOf(a.localhost[0].listener)
	if port == localhostPort || a.localhostURL() != "http://localhost:"+port {
		t.Errorf("it is at %s", a.localhostURL())
	}
	own := a.ownAddresses()
	for i, want := range []string{"127.0.0.1:" + port, "[::1]:" + port} {
		if len(own) != 2 || own[i] != netip.MustParseAddrPort(want) {
			t.Errorf("its own addresses are %v, not %s", own, want)
		}
	}
	for name, s := range map[string]Settings{"no demo": {}, "the listener is plain HTTP": {Demo: true, HTTP: true}} {
		b := &App{settings: s}
		if err := b.openLocalhost(); err != nil || b.localhostURL() != "" {
			t.Errorf("%s: %s, %v", name, b.localhostURL(), err)
		}
	}
}
