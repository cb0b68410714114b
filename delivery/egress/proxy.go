package egress

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"
)

// DefaultStep is that of Config. A lost packet makes a connection 1 s slower, a second one 3 s.
const DefaultStep = 3 * time.Second

// Config describes the proxy.
type Config struct {
	URL      string         // http:// or https://, with user and password if the proxy wants them: host:port is a must
	RootCAs  *x509.CertPool // may issue the certificate of an https:// proxy; nil: the system's
	Except   []string       // receivers that are connected to without the proxy; see [New]
	Resolves bool           // the proxy gets names, and judges their addresses

	// Step is how long the proxy has to accept a connection with its TLS, and as long again
	// to answer for itself; with less, a slow one would be taken for one that fails.
	// Default: DefaultStep.
	Step time.Duration
	// Time is the clock that the proxy's certificate is verified by. Default: the system's.
	Time func() time.Time
	// Dial connects to the proxy itself. Default: over TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log is told when the proxy fails, and when it works again. Default: nothing is logged.
	Log *zerolog.Logger
}

// Proxy connects to receivers. It is safe for concurrent use.
type Proxy struct {
	address       string      // host:port
	tls           *tls.Config // nil: it speaks plain HTTP
	authorization string      // a header line with its end, secret; or empty
	except        exceptions
	resolves      bool
	step          time.Duration // that the proxy has for what it does by itself
	isLocal       func(error) bool
	log           *zerolog.Logger
	dial          func(ctx context.Context, network, address string) (net.Conn, error)
	onDown, onUp  func()

	ended   context.Context // since Close
	end     context.CancelFunc
	probing sync.WaitGroup

	down    atomic.Pointer[Failure] // nil: it works, as far as is known
	answers atomic.Uint64           // that it gave
	judging chan struct{}           // has a token while a failure is judged

	mu       sync.Mutex
	checking *check // that runs; or nil
	targets  targets
	last     *Failure // that the latest outage ended with; nil: there was none
	upSince  time.Time
}

var errURL = errors.New("--egress-proxy is not the URL of a proxy with its port, such as http://proxy.corp:3128 or https://user:password@proxy.corp:3129; " +
	"write a character such as @ or / in the password as %40 or %2F")

// New checks c. Each entry of Except is a name (hooks.corp), a domain with all names
// below it (.corp), an address or a CIDR. An error names the flag and how to write it,
// and never quotes the URL, which may hold a password.
func New(c Config) (*Proxy, error) {
	u, err := url.Parse(c.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, errURL
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || port == 0 {
		return nil, errURL
	}
	p := &Proxy{
		address: net.JoinHostPort(u.Hostname(), u.Port()), resolves: c.Resolves, step: cmp.Or(c.Step, DefaultStep),
		isLocal: func(error) bool { return false }, log: c.Log, dial: c.Dial, onDown: func() {}, onUp: func() {}, judging: make(chan struct{}, 1),
	}
	if p.except, err = parseExceptions(c.Except); err != nil {
		return nil, err
	}
	if u.User != nil {
		password, _ := u.User.Password()
		if strings.Contains(u.User.Username(), ":") {
			return nil, errors.New("--egress-proxy: the user can't have a colon in its name")
		}
		p.authorization = "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)) + "\r\n"
	}
	if u.Scheme == "https" {
		p.tls = &tls.Config{ServerName: u.Hostname(), RootCAs: c.RootCAs, Time: c.Time, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}
	}
	if p.dial == nil {
		p.dial = new(net.Dialer).DialContext
	}
	if p.log == nil {
		nop := zerolog.Nop()
		p.log = &nop
	}
	p.ended, p.end = context.WithCancel(context.Background())
	return p, nil
}

// Address is the proxy's host:port.
func (p *Proxy) Address() string { return p.address }

// Attach sets isLocal to tell which errors are this machine's, such as for lack of file
// descriptors, and say nothing of the proxy; onDown to be called when the proxy has failed,
// before it is asked again, and once more before onUp, which is called when it works again. It
// is called once, before the first Dial; onUp must not block.
func (p *Proxy) Attach(isLocal func(error) bool, onDown, onUp func()) {
	p.isLocal, p.onDown, p.onUp = isLocal, onDown, onUp
}

// Close ends all dialing and probing.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.end() // nothing new is probed from now on
	p.mu.Unlock()
	p.probing.Wait()
}
