package delivery

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// nasty is a receiver and what must come of the one attempt to deliver there.
type nasty struct {
	name     string
	speak    func(net.Conn)
	timedOut bool
	status   int
	says     string // in the reason; empty when it is acknowledged
	answer   string // the answer that is kept
	id       string // of the delivery
}

// checkNasty sends once to each of the receivers, at the same time. Those that
// are to time out have less time than the others, whose true reason must not be
// hidden by a busy machine.
func checkNasty(t *testing.T, receivers []nasty) {
	t.Helper()
	patient, hasty := newBench(t), newBench(t)
	config := Config{RootCAs: trusted().roots(), Schedule: []time.Duration{}}
	patient.run(config)
	config.AttemptTimeout = hastyTimeout
	hasty.run(config)
	begin := func(b *bench, n *nasty) { n.id = b.sendTest(b.endpoint(newWire(t, n.speak).url()).ID).ID }
	for i := range receivers {
		if n := &receivers[i]; n.timedOut {
			begin(hasty, n)
		}
	}
	for _, n := range receivers {
		t.Run(n.name, func(t *testing.T) {
			b := hasty
			if !n.timedOut {
				b = patient
				begin(b, &n)
			}
			n.check(t, b.of(t))
		})
	}
}

const hastyTimeout = time.Second

func (n *nasty) check(t *testing.T, b *bench) {
	want := store.StateFailed
	if n.says == "" {
		want = store.StateAcknowledged
	}
	a := b.onlyAttemptOf(n.id, want)
	if took := a.Took(); took > 14*time.Second {
		t.Errorf("it took %s", took)
	}
	if !strings.Contains(a.Reason, n.says) || a.Status != n.status {
		t.Errorf("status %d, reason %q; not %d and %q", a.Status, a.Reason, n.status, n.says)
	}
	checkReason(t, a.Reason)
	if late := n.timedOut && n.status == 0; a.TimedOut != late {
		t.Errorf("the deadline ended it: %t", a.TimedOut)
	}
	if string(a.Answer) != n.answer {
		t.Errorf("the answer kept is %.80q, not %.80q", a.Answer, n.answer)
	}
}

// What goes wrong before there is a secure connection.
func TestNastyConnections(t *testing.T) {
	t.Parallel()
	certificate := func(of *authority, change func(*x509.Certificate)) func(net.Conn) {
		return secured(&tls.Config{Certificates: []tls.Certificate{of.issue(change)}}, afterRequest(says(ok)))
	}
	old := goodTLS().Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	checkNasty(t, []nasty{
		{name: "never speaks", speak: listenOn, timedOut: true, says: "no answer within 1s: the TLS handshake was not done"},
		{name: "closes at once", speak: func(net.Conn) {}, says: "the connection was closed during the TLS handshake"},
		{name: "resets at once", speak: resets, says: "the connection was closed "},
		{name: "plain HTTP", speak: says("HTTP/1.1 204 No Content\r\n\r\n"), says: "TLS: the receiver speaks plain HTTP on this port"},
		{name: "garbage", speak: says("\x00\x01\x02 what is this?\r\n"), says: "TLS: first record does not look like a TLS handshake"},
		{name: "mail", speak: says("220 smtp.example ESMTP\r\n"), says: "TLS: first record does not look like a TLS handshake"},
		{name: "half a record", speak: saysAndCloses("\x16\x03\x03\x40\x00half"), says: "the connection was closed during the TLS handshake"},
		{name: "TLS 1.1", speak: secured(old, listenOn), says: "TLS: remote error: tls: protocol version not supported"},
		{name: "no common cipher", speak: secured(&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA}, Certificates: goodTLS().Certificates}, listenOn), says: "TLS: remote error: tls: handshake failure"},
		{name: "no HTTP/1.1", speak: secured(&tls.Config{NextProtos: []string{"h3"}, Certificates: goodTLS().Certificates}, listenOn), says: "TLS: the receiver does not offer HTTP/1.1"},
		{name: "other name", speak: certificate(trusted(), func(c *x509.Certificate) { c.IPAddresses = nil }), says: "TLS: x509: cannot validate certificate for 127.0.0.1 because it doesn't contain any IP SANs"},
		{name: "other address", speak: certificate(trusted(), func(c *x509.Certificate) { c.IPAddresses = c.IPAddresses[1:2] }), says: "TLS: x509: certificate is valid for 127.9.9.9, not 127.0.0.1"},
		{name: "expired", speak: certificate(trusted(), func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) }), says: "TLS: x509: certificate has expired or is not yet valid"},
		{name: "not yet valid", speak: certificate(trusted(), func(c *x509.Certificate) { c.NotBefore = time.Now().Add(time.Minute) }), says: "TLS: x509: certificate has expired or is not yet valid"},
		{name: "unknown CA", speak: certificate(newAuthority(), nil), says: "TLS: x509: certificate signed by unknown authority"},
		{name: "lines in the certificate", speak: certificate(trusted(), func(c *x509.Certificate) {
			c.IPAddresses, c.DNSNames = nil, []string{"a\r\nERROR disk full", strings.Repeat("x", 1000)}
		}), says: "TLS: x509: "},
	})
}

// What goes wrong before anything is said.
func TestNowhere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	resolver := newNames(t, map[string]string{"nothing.example": ""}).resolver()
	b.run(Config{resolver: resolver, Schedule: []time.Duration{}})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	for url, want := range map[string]string{
		"https://" + l.Addr().String():  "connection refused",
		"https://no-such-host.example/": "DNS: no-such-host.example: no such host",
		"https://nothing.example/":      "DNS: nothing.example: no such host",
	} {
		if a := b.onlyAttempt(url, store.StateFailed); a.Reason != want || a.TimedOut {
			t.Errorf("%s: reason %q, not %q", url, a.Reason, want)
		}
	}
}

// A name server that doesn't answer.
func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	n := &names{conn: silent}
	a := sendOnce(t, "https://receiver.example/", Config{resolver: n.resolver(), AttemptTimeout: 200 * time.Millisecond})
	if want := "no answer within 200ms: the host's name was still being looked up"; a.Reason != want || !a.TimedOut {
		t.Errorf("reason %q, not %q; timed out: %t", a.Reason, want, a.TimedOut)
	}
}
