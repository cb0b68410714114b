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

// DefaultTimeout is that of Config.
const DefaultTimeout = 15 * time.Second

// Config describes the proxy.
type Config struct {
	URL      string         // http:// or https://, with user and password if the proxy wants them: host:port is a must
	RootCAs  *x509.CertPool // may issue the certificate of an https:// proxy; nil: the system's
	Except   []string       // receivers that are connected to without the proxy; see [New]
	Resolves bool           // the proxy gets names, and judges their addresses

	// Timeout is how long an attempt may take. A fifth of it is what the proxy has to
	// accept a connection with its TLS, and to answer for itself. Default: DefaultTimeout.
	Timeout time.Duration
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
	onUp          func()

	ended   context.Context // since Close
	end     context.CancelFunc
	probing sync.WaitGroup

	down     atomic.Pointer[Failure] // nil: it works, as far as is known
	answers  atomic.Uint64           // that it gave
	mu       sync.Mutex
	checking *check // that runs; or nil
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
		address: net.JoinHostPort(u.Hostname(), u.Port()), resolves: c.Resolves, step: cmp.Or(c.Timeout, DefaultTimeout) / 5,
		isLocal: func(error) bool { return false }, log: c.Log, dial: c.Dial, onUp: func() {},
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
// descriptors, and say nothing of the proxy; and onUp to be called when the proxy works again
// after a failure. It is called once, before the first Dial; onUp must not block.
func (p *Proxy) Attach(isLocal func(error) bool, onUp func()) { p.isLocal, p.onUp = isLocal, onUp }

// Close ends all dialing and probing.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.end() // nothing new is probed from now on
	p.mu.Unlock()
	p.probing.Wait()
}
