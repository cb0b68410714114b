package delivery

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/egress"
	"teamdata/e2e/kit"
	"teamdata/internal/netguard"
	"teamdata/store"
)

// tunnels is a proxy that knows CONNECT alone, and answers anything else with 400. What it
// does with a target is up to the test.
type tunnels struct {
	user  string                                      // user:password that it wants; empty: none
	to    func(c net.Conn, target string) (to string) // returns where to, or has answered
	about func(net.Conn)                              // speaks when asked for anything but a tunnel; nil: that 400
	mu    sync.Mutex
	asks  []string
}

const tunnelOpen = "HTTP/1.1 200 Connection established\r\nX-Proxy: t\r\n\r\n"

func (p *tunnels) speak(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	q, err := http.ReadRequest(r)
	if err != nil {
		return
	}
	p.mu.Lock()
	p.asks = append(p.asks, q.Method+" "+q.RequestURI)
	p.mu.Unlock()
	switch {
	case p.user != "" && q.Header.Get("Proxy-Authorization") != "Basic "+base64.StdEncoding.EncodeToString([]byte(p.user)):
		io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\n\r\n")
	case q.Method != http.MethodConnect && p.about != nil:
		p.about(c)
	case q.Method != http.MethodConnect:
		io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
	default:
		to := p.to(c, q.RequestURI)
		if to == "" {
			return
		}
		receiver, err := net.Dial("tcp", to)
		if err != nil {
			io.WriteString(c, "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			return
		}
		defer receiver.Close()
		io.WriteString(c, tunnelOpen)
		go func() {
			io.Copy(receiver, r)
			receiver.Close()
		}()
		io.Copy(c, receiver)
	}
}

func (p *tunnels) asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asks)
}

// always goes to one address.
func always(w *wire) func(net.Conn, string) string {
	return func(net.Conn, string) string { return w.Addr().String() }
}

// answersWith answers CONNECT with a text, and goes on once the other side closes.
func answersWith(text string) func(net.Conn, string) string {
	return func(c net.Conn, _ string) string {
		io.WriteString(c, text)
		io.Copy(io.Discard, c)
		return ""
	}
}

func newProxy(t testing.TB, c egress.Config) *egress.Proxy {
	t.Helper()
	p, err := egress.New(c)
	kit.Must(t, err)
	t.Cleanup(p.Close)
	return p
}

// acks is a receiver that acknowledges every request of a connection.
func acks(config *tls.Config) func(net.Conn) {
	return secured(config, func(c net.Conn) {
		for readRequest(c) {
			io.WriteString(c, ok)
		}
	})
}

// throughProxy is a dispatcher's config behind a proxy, for names that lead to public.
func throughProxy(t testing.TB, url string, change func(*egress.Config)) Config {
	c := egress.Config{URL: url}
	if change != nil {
		change(&c)
	}
	guard := netguard.New(netguard.Config{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	names := newNames(t, map[string]string{"receiver.example": public, "dead.example": "93.184.216.35", "two.example": "93.184.216.35 " + public, "near.example": "127.0.0.1"})
	return Config{RootCAs: trusted().roots(), Control: guard.Control, resolver: names.resolver(), Proxy: newProxy(t, c), Schedule: []time.Duration{}}
}

// Over HTTP and over HTTPS with a password, deliveries go through a tunnel to the address
// that was judged, which is used again; TLS is the receiver's.
func TestThroughProxy(t *testing.T) {
	t.Parallel()
	for scheme, speak := range map[string]func(*tunnels) func(net.Conn){
		"http":  func(p *tunnels) func(net.Conn) { return p.speak },
		"https": func(p *tunnels) func(net.Conn) { return secured(goodTLS(), p.speak) },
	} {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			receiver := newWire(t, acks(goodTLS()))
			p := &tunnels{user: "ann:p@ss:w", to: always(receiver)}
			w := newWire(t, speak(p))
			env := newEnv(t)
			env.run(throughProxy(t, scheme+"://ann:p%40ss:w@"+w.Addr().String(), func(c *egress.Config) { c.RootCAs = trusted().roots() }))
			for range 3 {
				env.onlyAttempt("https://receiver.example:8443/hook", store.StateAcknowledged)
			}
			if got := p.asked(); !slices.Equal(got, []string{"CONNECT " + public + ":8443"}) {
				t.Errorf("the proxy was asked for %q", got)
			}
			if n := receiver.accepted.Load(); n != 1 {
				t.Errorf("three deliveries took %d connections", n)
			}
		})
	}
}

// What the guard refuses, the proxy is never asked for: neither by an address, nor by a name
// that leads there; nor, if it resolves names, by an address in a form that it could read.
func TestHostileTargetsThroughProxy(t *testing.T) {
	t.Parallel()
	for _, resolves := range []bool{false, true} {
		t.Run(fmt.Sprintf("resolves %t", resolves), func(t *testing.T) {
			t.Parallel()
			target := newTrap(t)
			p := &tunnels{to: func(net.Conn, string) string { return target.addrs[0].String() }}
			zone, urls, reasons := map[string]string{}, []string(nil), []string(nil)
			for i, h := range hostile {
				urls, reasons = append(urls, target.url(h.host)), append(reasons, h.rule)
				if name := fmt.Sprintf("n%d.example", i); !resolves {
					zone[name] = h.addr
					urls, reasons = append(urls, target.url(name)), append(reasons, h.rule)
				}
			}
			if resolves {
				for _, host := range []string{"127.1", "2130706433", "0x7f.0.0.1", "0x7f000001", "a.1"} {
					urls, reasons = append(urls, target.url(host)), append(reasons, egress.ErrHost.Error())
				}
				urls, reasons = append(urls, target.url("localhost")), append(reasons, "loopback")
			}
			w := newWire(t, p.speak)
			c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Resolves = resolves })
			c.Control, c.resolver = netguard.New(netguard.Config{}).Control, newNames(t, zone).resolver()
			if resolves {
				c.resolver = nil // for localhost alone
			}
			for i, url := range urls {
				if a := sendOnce(t, url, c); !strings.Contains(a.Reason, reasons[i]) {
					t.Errorf("%s: %q, not %q", url, a.Reason, reasons[i])
				}
			}
			if got := p.asked(); len(got) > 0 {
				t.Errorf("the proxy was asked for %q", got)
			}
			target.checkUntouched(t)
		})
	}
}

// A proxy that answers 200 and then speaks for another host, or in plain text, gains
// nothing: the attempt fails in TLS.
func TestProxySpeaksForAnother(t *testing.T) {
	t.Parallel()
	other := &tls.Config{Certificates: []tls.Certificate{trusted().issue(func(c *x509.Certificate) { c.DNSNames, c.IPAddresses = []string{"other.example"}, nil })}}
	strange := &tls.Config{Certificates: []tls.Certificate{newAuthority().issue(nil)}}
	for name, test := range map[string]struct {
		to   func(net.Conn, string) string
		want string
	}{
		"another host":      {always(newWire(t, acks(other))), "TLS: x509: certificate is valid for other.example"},
		"another authority": {always(newWire(t, acks(strange))), "TLS: x509: certificate signed by unknown authority"},
		"plain text":        {answersWith(tunnelOpen + "HTTP/1.1 200 OK\r\n\r\n"), "TLS: the receiver speaks plain HTTP"},
	} {
		w := newWire(t, (&tunnels{to: test.to}).speak)
		c := throughProxy(t, "http://"+w.Addr().String(), nil)
		if a := sendOnce(t, "https://receiver.example/", c); !strings.HasPrefix(a.Reason, test.want) || a.Status != 0 {
			t.Errorf("%s: %+v", name, a)
		}
	}
}

// Any other answer to CONNECT is an attempt of that receiver, and others go on.
func TestProxyAnswersForReceiver(t *testing.T) {
	t.Parallel()
	receiver := newWire(t, acks(goodTLS()))
	for answer, test := range map[string]struct {
		status int
		reason string
	}{
		"HTTP/1.1 502 dead\r\n\r\n":                                        {502, "the proxy %s answered 502 Bad Gateway to CONNECT"},
		"HTTP/1.0 403 no\r\nContent-Length: 0\r\n\r\n":                     {403, "the proxy %s answered 403 Forbidden to CONNECT"},
		"HTTP/1.1 302 x\r\nLocation: /\r\n\r\n":                            {302, "the proxy %s answered 302 Found to CONNECT"},
		"HTTP/1.1 504 x\r\n\r\n":                                           {504, "the proxy %s answered 504 Gateway Timeout to CONNECT"},
		"HTTP/1.1 200 x\r\nX: " + strings.Repeat("x", 16<<10) + "\r\n\r\n": {0, "the proxy %s answered with headers longer than 16384 bytes"},
		"SSH-2.0-x\r\n": {0, "the proxy %s did not answer in HTTP"},
	} {
		w := newWire(t, (&tunnels{to: func(c net.Conn, target string) string {
			if target != "93.184.216.35:443" {
				return receiver.Addr().String()
			}
			return answersWith(answer)(c, target)
		}}).speak)
		env := newEnv(t)
		env.run(throughProxy(t, "http://"+w.Addr().String(), nil))
		a := env.onlyAttempt("https://dead.example/", store.StateFailed)
		if want := fmt.Sprintf(test.reason, w.Addr()); a.Status != test.status || a.Reason != want {
			t.Errorf("%.20q: %d %q, not %q", answer, a.Status, a.Reason, want)
		}
		env.onlyAttempt("https://receiver.example/", store.StateAcknowledged)
		env.onlyAttempt("https://two.example/", store.StateFailed) // whose certificate is for another name
	}
}

// Of several addresses the proxy is asked for one after the other, also if it fails for the first.
func TestProxyTriesEachAddress(t *testing.T) {
	t.Parallel()
	two := trusted().issue(func(c *x509.Certificate) { c.DNSNames = []string{"two.example"} })
	receiver := newWire(t, acks(&tls.Config{Certificates: []tls.Certificate{two}}))
	for _, answer := range []string{"HTTP/1.1 503 x\r\n\r\n", refusal, ""} {
		p := &tunnels{about: says(answer), to: func(c net.Conn, target string) string {
			if target == public+":443" {
				return receiver.Addr().String()
			}
			return answersWith(answer)(c, target)
		}}
		w := newWire(t, p.speak)
		env := newEnv(t)
		d := env.runWith(throughProxy(t, "http://"+w.Addr().String(), nil))
		env.onlyAttempt("https://two.example/", store.StateAcknowledged)
		if d.GivenBack() > 0 {
			t.Errorf("%q: %d were given back", answer, d.GivenBack())
		}
	}
}

// Exceptions, this machine's own addresses and plain HTTP, which is for tests, go past the
// proxy; a name that the proxy is to resolve is sent as it is.
func TestPastProxy(t *testing.T) {
	t.Parallel()
	receiver := newWire(t, acks(goodTLS()))
	_, port, _ := net.SplitHostPort(receiver.Addr().String())
	plain := newWire(t, func(c net.Conn) {
		if readRequest(c) {
			io.WriteString(c, ok)
		}
	})
	for _, test := range []struct {
		url      string
		except   []string
		resolves bool
		want     string // that the proxy is asked for; empty: nothing
	}{
		{"https://127.0.0.1:" + port, nil, false, ""},
		{"https://localhost:" + port, nil, true, ""},
		{"http://" + plain.Addr().String(), nil, false, ""},
		{"https://receiver.example:" + port, nil, false, public + ":" + port},
		{"https://RECEIVER.example:" + port, nil, true, "receiver.example:" + port},
		{"https://receiver.example:" + port, []string{"other.example", ".receiver.example"}, true, "receiver.example:" + port},
		{"https://receiver.example:" + port, []string{"10.0.0.0/8", "93.184.216.35"}, false, public + ":" + port},
		{"https://receiver.example:" + port, []string{"receiver.EXAMPLE"}, false, ""},
		{"https://receiver.example:" + port, []string{".example"}, true, ""},
	} {
		p := &tunnels{to: always(receiver)}
		w := newWire(t, p.speak)
		c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Except, c.Resolves = test.except, test.resolves })
		c.HTTPOnLoopback = true
		if test.want == "" && strings.Contains(test.url, "example") { // past the proxy it is on this machine
			c.resolver = newNames(t, map[string]string{"receiver.example": "127.0.0.1"}).resolver()
		}
		if a := sendOnce(t, test.url, c); !a.Acknowledged() {
			t.Errorf("%+v: %s", test, a.Reason)
		}
		if got := strings.TrimPrefix(strings.Join(p.asked(), " "), "CONNECT "); got != test.want {
			t.Errorf("%+v: the proxy was asked for %q", test, got)
		}
	}
}

// An address that is excepted is judged and dialed here.
func TestExceptedAddress(t *testing.T) {
	t.Parallel()
	p := &tunnels{to: func(net.Conn, string) string { panic("asked") }}
	w := newWire(t, p.speak)
	c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Except = []string{"93.184.216.0/24"} })
	guard := &recordingGuard{guard: netguard.New(netguard.Config{})}
	c.Control = guard.control
	if a := sendOnce(t, "https://receiver.example/", c); !strings.Contains(a.Reason, errNotDialed.Error()) {
		t.Errorf("%q", a.Reason)
	}
	guard.checkPassed(t, public)
}

// lockedBuffer is a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// What is the proxy's fault costs nobody an attempt: it is told once, without the password,
// and everything goes out once the proxy works. A proxy that is silent is told from
// one that tries a receiver in a black hole.
func TestProxyFails(t *testing.T) {
	t.Parallel()
	const user, secret = "ann:s3cr3t-pa55", "s3cr3t-pa55"
	silent := func(c net.Conn) { io.Copy(io.Discard, c) }
	for name, test := range map[string]struct {
		scheme string
		broken func(net.Conn) // nil: nobody listens
		want   string
	}{
		"nobody listens": {"http", nil, "can't be reached"},
		"refuses":        {"http", (&tunnels{user: "bob:other"}).speak, "answered 407 Proxy Authentication Required"},
		"silent":         {"http", silent, "does not answer"},
		"silent in TLS":  {"https", silent, "failed the TLS handshake"},
		"no TLS":         {"https", says("HTTP/1.1 400 x\r\n\r\n"), "failed the TLS handshake"},
		"strange TLS":    {"https", secured(&tls.Config{Certificates: []tls.Certificate{newAuthority().issue(nil)}}, silent), "failed the TLS handshake"},
		"closes":         {"http", afterRequest(resets), "closed the connection without an answer"},
		"echoes":         {"http", func(c net.Conn) { io.CopyN(c, c, 100) }, "did not answer in HTTP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := kit.Reserved(t)
			receiver := newWire(t, acks(goodTLS()))
			var broken *wire
			if test.broken != nil {
				broken = newWireOn(t, kit.ListenOn(t, address), test.broken)
			}
			log := &lockedBuffer{}
			logger := zerolog.New(log)
			c := throughProxy(t, test.scheme+"://"+user+"@"+address, func(c *egress.Config) {
				c.RootCAs, c.Log, c.Step = trusted().roots(), &logger, 400*time.Millisecond
			})
			c.Log, c.PerEndpoint = &logger, 2
			env := newEnv(t)
			e := env.endpoint("https://receiver.example/hook")
			env.sendTests([]string{e.ID}, 5)
			d := New(env.store, c)
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			running.Go(func() { d.Run(ctx, ctx) })
			defer running.Wait()
			defer cancel()
			if !kit.Until(20*time.Second, func() bool { return d.ProxyDown() != nil && d.GivenBack() > 0 }) {
				t.Fatal("nothing was given back")
			}
			if f := d.ProxyDown(); f.What != test.want {
				t.Errorf("it %s (%v)", f.What, f)
			}
			if broken != nil {
				broken.end()
			}
			works := &tunnels{user: user, to: always(receiver)}
			speak := works.speak
			if test.scheme == "https" {
				speak = secured(goodTLS(), speak)
			}
			newWireOn(t, kit.ListenOn(t, address), speak)
			var list []store.Delivery
			kit.Until(20*time.Second, func() bool {
				env.view(func(tx store.Tx) (err error) {
					list, _, err = tx.DeliveryPage(e.Number, store.ListAcknowledged, store.Cursor{}, 9)
					return err
				})
				return len(list) == 5
			})
			for _, one := range list {
				if one.State != store.StateAcknowledged || one.Attempts != 1 {
					t.Errorf("%s is %s after %d attempts: %+v", one.ID, one.State, one.Attempts, one.History)
				}
			}
			if len(list) != 5 || d.ProxyDown() != nil {
				t.Errorf("%d have arrived, and the proxy %v", len(list), d.ProxyDown())
			}
			said := log.String()
			if strings.Count(said, "because the egress proxy fails") != 1 || strings.Count(said, "works again") != 1 || !strings.Contains(said, test.want) {
				t.Errorf("the log: %s", said)
			}
			if strings.Contains(said, secret) || strings.Contains(said, base64.StdEncoding.EncodeToString([]byte(user))) {
				t.Error("the log holds the password")
			}
		})
	}
}

// A receiver in a black hole, for which a proxy says nothing, uses up its own attempt, and
// stops nobody, also if the proxy says nothing of itself and no other receiver is known.
func TestProxySilentForOneReceiver(t *testing.T) {
	t.Parallel()
	for _, about := range []func(net.Conn){nil, resets} {
		receiver := newWire(t, acks(goodTLS()))
		w := newWire(t, (&tunnels{about: about, to: func(c net.Conn, target string) string {
			if target == public+":443" {
				return receiver.Addr().String()
			}
			io.Copy(io.Discard, c)
			return ""
		}}).speak)
		env := newEnv(t)
		c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Step = 200 * time.Millisecond })
		c.AttemptTimeout = time.Second
		env.run(c)
		if a := env.onlyAttempt("https://dead.example/", store.StateFailed); !a.TimedOut || c.Proxy.Down() != nil {
			t.Errorf("%+v, and the proxy %v", a, c.Proxy.Down())
		}
		env.onlyAttempt("https://receiver.example/", store.StateAcknowledged)
	}
}

// A proxy that hangs for each of several addresses is found out before the attempt's time
// is over.
func TestProxySilentForEachAddress(t *testing.T) {
	t.Parallel()
	w := newWire(t, listenOn)
	c := throughProxy(t, "http://"+w.Addr().String(), func(c *egress.Config) { c.Step = 800 * time.Millisecond })
	c.AttemptTimeout = 4 * time.Second // so that each address has two seconds
	e := store.Endpoint{URL: "https://two.example/", Secret: store.NewEndpointSecret()}
	if a, outcome := newSender(c.withDefaults()).send(t.Context(), &e, &store.Claim{}); outcome != outcomeBehind {
		t.Errorf("%s: %s", outcome, a.Reason)
	}
}
