package server

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/pires/go-proxyproto"

	"teamdata/e2e/kit"
)

// askThrough makes a request over a connection that begins with a header of the
// PROXY protocol.
func (env *testEnv) askThrough(peer string, header []byte, secure bool) (rawAnswer, error) {
	env.Helper()
	c, err := env.dialFrom(peer)
	if err != nil {
		return rawAnswer{}, err
	}
	if _, err := c.Write(header); err != nil {
		return rawAnswer{}, err
	}
	if secure {
		over := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
		if err := over.Handshake(); err != nil {
			return rawAnswer{}, err
		}
		c = over
	}
	if _, err := io.WriteString(c, "GET /api/v1/members HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer key_read."+fixtureSecret+"\r\n\r\n"); err != nil {
		return rawAnswer{}, err
	}
	from := bufio.NewReader(c)
	if _, err := from.Peek(1); err != nil {
		return rawAnswer{}, err
	}
	return readAnswer(env, "GET", from), nil
}

// proxyHeader is what a proxy sends for a client.
func proxyHeader(t *testing.T, version byte, client string) []byte {
	t.Helper()
	h := proxyproto.HeaderProxyFromAddrs(version, &net.TCPAddr{IP: net.ParseIP(client), Port: 4711}, &net.TCPAddr{IP: net.ParseIP(client), Port: 443})
	text, err := h.Format()
	kit.Must(t, err)
	return text
}

// Over TLS and without, the limit is that of the client that the header tells.
func TestProxyProtocol(t *testing.T) {
	for name, secure := range map[string]bool{"plain": false, "TLS": true} {
		t.Run(name, func(t *testing.T) {
			env := newTestEnv(t, Config{ClientRate: 1, ProxyProtocol: true, Proxies: mustParse(t, "127.0.0.1")})
			env.listenWith(secure)
			local := []byte("\r\n\r\n\x00\r\nQUIT\n\x20\x00\x00\x00")
			for i, row := range []struct {
				header []byte
				want   string
			}{
				{proxyHeader(t, 2, "203.0.113.1"), "200 OK"},
				{proxyHeader(t, 1, "203.0.113.1"), "429 Too Many Requests"},
				{proxyHeader(t, 1, "2001:db8::1"), "200 OK"},
				{proxyHeader(t, 2, "2001:db8::2"), "429 Too Many Requests"},
				{local, "200 OK"}, // the proxy itself
				{[]byte("PROXY UNKNOWN\r\n"), "429 Too Many Requests"},
			} {
				answer, err := env.askThrough("127.0.0.1", row.header, secure)
				if answer.status != row.want {
					t.Errorf("%d: %q, %v; want %q", i, answer.status, err, row.want)
				}
			}
		})
	}
}

// Without the header, with another or from elsewhere there is no answer.
func TestProxyProtocolRefuses(t *testing.T) {
	env := newTestEnv(t, Config{ProxyProtocol: true, Proxies: mustParse(t, "127.0.0.1")})
	right := proxyHeader(t, 2, "203.0.113.1")
	if _, err := env.askThrough("127.0.0.2", right, false); !wasReset(err) {
		t.Errorf("a stranger: %v", err)
	}
	unix := append([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x31\x00\xd8"), make([]byte, 216)...)
	udp := append([]byte("\r\n\r\n\x00\r\nQUIT\n\x21\x12\x00\x0c"), make([]byte, 12)...)
	for name, header := range map[string][]byte{
		"none": nil, "Unix": unix, "UDP": udp, "cut": right[:14], "v1 without end": []byte("PROXY TCP4 " + strings.Repeat("1", 200)),
	} {
		answer, err := env.askThrough("127.0.0.1", header, false)
		if err == nil {
			t.Errorf("%s: %s", name, answer.text)
		}
	}
	env.waitForOpen(0)
}

// A client that is still sending gets to read why it is refused: the end of the
// answer passes through the PROXY protocol's connection too.
func TestProxyProtocolHalfClose(t *testing.T) {
	env := newTestEnv(t, Config{ProxyProtocol: true, Proxies: mustParse(t, "127.0.0.1")})
	c, err := env.dialFrom("127.0.0.1")
	kit.Must(t, err)
	c.Write(proxyHeader(t, 2, "203.0.113.1"))
	go io.WriteString(c, "GET / HTTP/1.1\r\nX: "+strings.Repeat("x", 100<<10))
	text, err := io.ReadAll(c)
	if !strings.HasPrefix(string(text), "HTTP/1.1 431 ") {
		t.Errorf("%q, %v", text, err)
	}
}
