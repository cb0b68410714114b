package delivery

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// wire is a receiver that speaks byte by byte. Its connections live until the
// test ends, or speak returns.
type wire struct {
	net.Listener
	accepted atomic.Int32
	mu       sync.Mutex
	conns    []net.Conn
	running  sync.WaitGroup
}

// newWire serves each connection with speak.
func newWire(t testing.TB, speak func(net.Conn)) *wire {
	t.Helper()
	return newWireOn(t, kit.Loopback(t), speak)
}

// newWireOn does the same on a listener.
func newWireOn(t testing.TB, l net.Listener, speak func(net.Conn)) *wire {
	t.Helper()
	w := &wire{Listener: l}
	w.running.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.accepted.Add(1)
			w.mu.Lock()
			w.conns = append(w.conns, c)
			w.mu.Unlock()
			w.running.Go(func() {
				speak(c)
				c.Close()
			})
		}
	})
	t.Cleanup(w.end)
	return w
}

func (w *wire) end() {
	w.Close()
	w.mu.Lock()
	for _, c := range w.conns {
		c.Close()
	}
	w.mu.Unlock()
	w.running.Wait()
}

func (w *wire) url() string { return "https://" + w.Addr().String() + "/hook" }

// secured does the TLS handshake before speak.
func secured(config *tls.Config, speak func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		s := tls.Server(c, config)
		if s.Handshake() == nil {
			speak(s)
		}
	}
}

var goodTLS = sync.OnceValue(func() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{trusted().issue(nil)}}
})

// listenOn reads until the other side closes.
func listenOn(c net.Conn) { io.Copy(io.Discard, c) }

// readRequest reads one request to its end.
func readRequest(c net.Conn) bool {
	q, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return false
	}
	io.Copy(io.Discard, q.Body)
	return true
}

// afterRequest speaks once the request has come.
func afterRequest(speak func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		if readRequest(c) {
			speak(c)
		}
	}
}

// says writes text, and leaves it to the other side to close.
func says(text string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, text)
		listenOn(c)
	}
}

// saysAndCloses writes text and closes.
func saysAndCloses(text string) func(net.Conn) {
	return func(c net.Conn) { io.WriteString(c, text) }
}

// floods writes text and then a piece over and over.
func floods(text, piece string) func(net.Conn) {
	return func(c net.Conn) {
		for _, err := io.WriteString(c, text); err == nil; {
			_, err = io.WriteString(c, piece)
		}
	}
}

// resets ends a connection without a word (RST instead of FIN).
func resets(c net.Conn) {
	if s, ok := c.(*tls.Conn); ok {
		c = s.NetConn()
	}
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}

// authority issues the certificates of receivers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// sign makes a certificate; the first is of the authority itself.
func (a *authority) sign(c *x509.Certificate) (*x509.Certificate, *ecdsa.PrivateKey) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	parent, signer := a.certificate, a.key
	if parent == nil {
		parent, signer = c, key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), signer)
	if err != nil {
		panic(err)
	}
	signed, err := x509.ParseCertificate(der)
	if err != nil {
		panic(err)
	}
	return signed, key
}

// issue makes a receiver's certificate, for the hosts of receivers in tests unless
// change says otherwise.
func (a *authority) issue(change func(*x509.Certificate)) tls.Certificate {
	c := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "Test receiver"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames:    []string{"localhost", "receiver.example"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(127, 9, 9, 9), net.IPv6loopback, net.IPv4zero, net.IPv6unspecified},
	}
	if change != nil {
		change(c)
	}
	signed, key := a.sign(c)
	return tls.Certificate{Certificate: [][]byte{signed.Raw}, PrivateKey: key}
}

func (a *authority) roots() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return pool
}

var trusted = sync.OnceValue(newAuthority)

func newAuthority() *authority {
	a := &authority{}
	a.certificate, a.key = a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Test CA"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}
