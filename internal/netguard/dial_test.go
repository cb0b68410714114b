package netguard

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strconv"
	"testing"
	"time"
)

func listen(t *testing.T) netip.AddrPort {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().(*net.TCPAddr).AddrPort()
}

func dial(t *testing.T, g *Guard, address string) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	dialer := net.Dialer{Control: g.Control}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

func TestDial(t *testing.T) {
	addr := listen(t)
	checkRefused(t, dial(t, New(Config{}), addr.String()), addr, "loopback")

	allow := cidrs(t, "127.0.0.1")
	if err := dial(t, New(Config{Allow: allow}), addr.String()); err != nil {
		t.Errorf("allowed, but: %v", err)
	}

	own := func() []netip.AddrPort { return []netip.AddrPort{addr} }
	checkRefused(t, dial(t, New(Config{Allow: allow, Own: own}), addr.String()), addr, ruleOwn)
}

// The guard must see what a name resolves to, not the name.
func TestDialName(t *testing.T) {
	address := net.JoinHostPort("localhost", strconv.Itoa(int(listen(t).Port())))
	var refusal *Refusal
	if err := dial(t, New(Config{}), address); !errors.As(err, &refusal) {
		t.Fatalf("err = %v, want a refusal", err)
	}
	if !refusal.Addr.Addr().IsLoopback() {
		t.Errorf("refused for %v, want a loopback address", refusal.Addr)
	}
	if err := dial(t, New(Config{Allow: cidrs(t, "127.0.0.0/8", "::1")}), address); err != nil {
		t.Errorf("allowed, but: %v", err)
	}
}
