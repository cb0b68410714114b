package delivery

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// nasty is a receiver that misbehaves, and what its one attempt must end with.
type nasty struct {
	name     string
	speak    func(net.Conn)
	timedOut bool
	status   int
	says     string // in the reason; empty when it is acknowledged
	answer   string // the answer that is kept
}

// checkNasty sends once to each of the receivers. Attempts that are to time out have as
// little time as this machine needs, and the others all of it: their reasons must not
// depend on how busy the machine is.
func checkNasty(t *testing.T, receivers []nasty) {
	t.Helper()
	patient := newEnv(t)
	patient.run(Config{RootCAs: trusted().roots(), Schedule: []time.Duration{}})
	for _, n := range receivers {
		t.Run(n.name, func(t *testing.T) {
			url, state := newWire(t, n.speak).url(), store.StateFailed
			if n.timedOut {
				a, _ := inTime(t, n.reaches(), func(timeout time.Duration) store.Attempt {
					return sendOnce(t, url, Config{RootCAs: trusted().roots(), AttemptTimeout: timeout})
				})
				n.check(t, a)
				return
			}
			if n.says == "" {
				state = store.StateAcknowledged
			}
			n.check(t, patient.of(t).onlyAttempt(url, state))
		})
	}
}

// reaches is how far an attempt that times out gets.
func (n *nasty) reaches() step {
	if at := slices.Index(unfinished[:], n.says); at >= 0 {
		return step(at)
	}
	if n.status != 0 {
		return stepAnswer + 1
	}
	return stepWait
}

func (n *nasty) check(t *testing.T, a store.Attempt) {
	t.Helper()
	if a.Acknowledged() != (n.says == "") {
		t.Errorf("it is acknowledged: %t", a.Acknowledged())
	}
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

// Failures before there is a secure connection.
func TestNastyConnections(t *testing.T) {
	t.Parallel()
	certificate := func(of *authority, change func(*x509.Certificate)) func(net.Conn) {
		return secured(&tls.Config{Certificates: []tls.Certificate{of.issue(change)}}, afterRequest(says(ok)))
	}
	old := goodTLS().Clone()
	old.MinVersion, old.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
	checkNasty(t, []nasty{
		{name: "never speaks", speak: listenOn, timedOut: true, says: unfinished[stepTLS]},
		{name: "closes at once", speak: func(net.Conn) {}, says: "the connection was closed during the TLS handshake"},
		{name: "resets at once", speak: resets, says: "the connection was closed "},
		{name: "plain HTTP", speak: says("HTTP/1.1 204 No Content\r\n\r\n"), says: "TLS: the receiver speaks plain HTTP on this port"},
		{name: "garbage", speak: says("\x00\x01\x02 what is this?\r\n"), says: "TLS: first record does not look like a TLS handshake"},
		{name: "mail", speak: says("220 smtp.example ESMTP\r\n"), says: "TLS: first record does not look like a TLS handshake"},
		{name: "half a record", speak: saysAndCloses("\x16\x03\x03\x40\x00half"), says: "the connection was closed during the TLS handshake"},
		{name: "TLS 1.1", speak: secured(old, listenOn), says: "TLS: the receiver refused: protocol version not supported"},
		{name: "no common cipher", speak: secured(&tls.Config{MaxVersion: tls.VersionTLS12, CipherSuites: []uint16{tls.TLS_RSA_WITH_RC4_128_SHA}, Certificates: goodTLS().Certificates}, listenOn), says: "TLS: the receiver refused: handshake failure"},
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

// Failures before there is a connection.
func TestNowhere(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	resolver := newNames(t, map[string]string{"nothing.example": ""}).resolver()
	env.run(Config{resolver: resolver, Schedule: []time.Duration{}})
	for url, want := range map[string]string{
		"https://" + kit.Reserved(t):    "connection refused",
		"https://no-such-host.example/": "DNS: no-such-host.example: no such host",
		"https://nothing.example/":      "DNS: nothing.example: no such host",
	} {
		if a := env.onlyAttempt(url, store.StateFailed); a.Reason != want || a.TimedOut {
			t.Errorf("%s: reason %q, not %q", url, a.Reason, want)
		}
	}
}

// A name server that doesn't answer.
func TestSilentNameServer(t *testing.T) {
	t.Parallel()
	silent, err := net.ListenPacket("udp", "127.0.0.1:0")
	kit.Must(t, err)
	defer silent.Close()
	n := &names{conn: silent}
	a := sendOnce(t, "https://receiver.example/", Config{resolver: n.resolver(), AttemptTimeout: 200 * time.Millisecond})
	if want := "no answer within 200ms: the host's name was still being looked up"; a.Reason != want || !a.TimedOut {
		t.Errorf("reason %q, not %q; timed out: %t", a.Reason, want, a.TimedOut)
	}
}

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

// Failures on a secure connection: what comes is no valid answer.
func TestNastyAnswers(t *testing.T) {
	t.Parallel()
	checkNasty(t, overTLS([]nasty{
		{name: "closes before reading", speak: func(net.Conn) {}, says: "the connection was closed before an answer came"},
		{name: "resets before reading", speak: resets, says: "the connection was closed before an answer came"},
		{name: "silence", speak: listenOn, timedOut: true, says: unfinished[stepWait]},
		{name: "closes after the request", speak: afterRequest(func(net.Conn) {}), says: "the connection was closed before an answer came"},
		{name: "resets after the request", speak: afterRequest(resets), says: "the connection was closed before an answer came"},
		{name: "trickles the status line", speak: trickle("", "HTTP/1.1 200 "+strings.Repeat("O", 1000)), timedOut: true, says: unfinished[stepAnswer]},
		{name: "trickles headers", speak: trickle("HTTP/1.1 200 OK\r\n", "X: "+strings.Repeat("x", 1000)), timedOut: true, says: unfinished[stepAnswer]},
		{name: "closes in the status line", speak: afterRequest(saysAndCloses("HTTP/1.1 20")), says: `the answer is not valid HTTP: malformed HTTP status code "20"`},
		{name: "closes after the status line", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\n")), says: "the connection was closed in the middle of the answer"},
		{name: "closes in the headers", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n")), says: "the connection was closed in the middle of the answer"},
		{name: "endless status line", speak: afterRequest(floods("HTTP/1.1 200 ", strings.Repeat("O", 4096))), says: "the answer's headers are longer than 16384 bytes"},
		{name: "letters as status", speak: afterRequest(says("HTTP/1.1 2OO OK\r\n\r\n")), says: `the answer is not valid HTTP: malformed HTTP status code "2OO"`},
		{name: "two digits", speak: afterRequest(says("HTTP/1.1 20 OK\r\n\r\n")), says: `the answer is not valid HTTP: malformed HTTP status code "20"`},
		{name: "no HTTP", speak: afterRequest(says("SSH-2.0-OpenSSH_9.9\r\n")), says: `the answer is not valid HTTP: malformed HTTP`},
		{name: "HTTP/2 unasked", speak: afterRequest(says("\x00\x00\x00\x04\x00\x00\x00\x00\x00")), timedOut: true, says: "no answer within "},
		{name: "much that is no HTTP", speak: afterRequest(says(strings.Repeat("\x01", 4000) + "\r\n")), says: `the answer is not valid HTTP: malformed HTTP`},
		{name: "bad header", speak: afterRequest(says("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")), says: "the answer is not valid HTTP: malformed MIME header"},
		{name: "1xx flood", speak: afterRequest(floods("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n")), says: "the answer's headers are longer than 16384 bytes"},
		{name: "slow 1xx", speak: trickle("", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 40)), timedOut: true, says: unfinished[stepAnswer]},
	}))
}

// A status line counts, whatever is wrong with what follows it.
func TestNastyStatuses(t *testing.T) {
	t.Parallel()
	binary := "\x00\xff\x1b[31m\r\n" + strings.Repeat("\xc3\x28", 2000)
	bomb := zipped(8 << 20)
	checkNasty(t, overTLS([]nasty{
		{name: "hints, then 500", speak: afterRequest(says("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nsad\n")), status: 500, says: "the receiver answered 500 Internal Server Error", answer: "sad\n"},
		{name: "600", speak: afterRequest(says("HTTP/1.1 600 What\r\nContent-Length: 0\r\n\r\n")), status: 600, says: "the receiver answered 600"},
		{name: "099", speak: afterRequest(says("HTTP/1.1 099 What\r\nContent-Length: 0\r\n\r\n")), status: 99, says: "the receiver answered 99"},
		{name: "switches protocols", speak: afterRequest(says("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")), status: 101, says: "the receiver answered 101 Switching Protocols"},
		{name: "redirect", speak: afterRequest(says("HTTP/1.1 302 Found\r\nLocation: https://10.0.0.1/\r\nContent-Length: 0\r\n\r\n")), status: 302, says: "the receiver answered 302 Found; redirects are not followed"},
		{name: "redirect to nowhere", speak: afterRequest(says("HTTP/1.1 302 Found\r\nLocation: ::\r\nContent-Length: 0\r\n\r\n")), status: 302, says: "the receiver answered 302 Found; redirects are not followed"},
		{name: "204 with a body", speak: afterRequest(says("HTTP/1.1 204 No Content\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhello")), status: 204},
		{name: "HTTP/1.0 without a length", speak: afterRequest(saysAndCloses("HTTP/1.0 200 OK\r\n\r\nfine")), status: 200, answer: "fine"},
		{name: "less than was promised", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")), status: 200, answer: "half"},
		{name: "broken chunks", speak: afterRequest(says("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\nzz\r\n")), status: 200, answer: "ok"},
		{name: "500 with broken chunks", speak: afterRequest(says("HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\nzz\r\n")), status: 500, says: "the receiver answered 500", answer: "no"},
		{name: "trickles the body", speak: trickle("HTTP/1.1 200 OK\r\n\r\n", ""), timedOut: true, status: 200},
		{name: "500, then silence", speak: afterRequest(says("HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nwait")), timedOut: true, status: 500, says: "the receiver answered 500", answer: "wait"},
		{name: "binary", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\n\r\n" + binary)), status: 200, answer: binary[:store.MaxKeptAnswer]},
		{name: "exactly what is kept", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\n\r\n" + binary[:store.MaxKeptAnswer])), status: 200, answer: binary[:store.MaxKeptAnswer]},
		{name: "gzip bomb", speak: afterRequest(saysAndCloses("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb)), status: 200, answer: bomb[:store.MaxKeptAnswer]},
	}))
}

func overTLS(receivers []nasty) []nasty {
	for i := range receivers {
		receivers[i].speak = secured(goodTLS(), receivers[i].speak)
	}
	return receivers
}

// trickle answers with begin, and then with a byte of rest at a time until the
// other side closes. Without a rest, it only begins.
func trickle(begin, rest string) func(net.Conn) {
	return afterRequest(func(c net.Conn) {
		io.WriteString(c, begin)
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			listenOn(c)
		}()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for i := range len(rest) {
			select {
			case <-tick.C:
				io.WriteString(c, rest[i:i+1])
			case <-gone:
				return
			}
		}
		<-gone
	})
}

// zipped is n zeros, compressed.
func zipped(n int64) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.CopyN(w, endless{}, n)
	w.Close()
	return b.String()
}
