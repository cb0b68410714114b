package certificates

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme/autocert"

	"teamdata/internal/canonical"
	"teamdata/internal/hint"
	"teamdata/store"
)

// handshakeWait is how long a client waits for a certificate that is being issued.
const handshakeWait = 5 * time.Second

var errNotThere = errors.New("there is no certificate for this domain yet")

// domain is one name, with a certificate of its own.
type domain struct {
	name string
	acme *ACME
	lastError

	mu      sync.Mutex
	served  *tls.Certificate  // nil: none yet
	issuer  *authority        // of served
	renewal renewal           // of served, as its authority suggests it
	sources []*source         // in the order in which they are asked
	manager *autocert.Manager // of the last attempt
	running bool              // an attempt is
	tried   chan struct{}     // closed when the attempt ends that runs or is about to; nil: the next is later
	again   *time.Timer       // of the next look at what another node got; nil: there was none yet
	yield   func()            // ends what keepHold began; for the attempt that runs
}

func newDomain(a *ACME, name string) *domain {
	log := a.config.Log.With().Str("domain", name).Logger()
	d := &domain{name: name, acme: a, lastError: lastError{log: log, now: a.config.Now}, tried: make(chan struct{}), yield: func() {}}
	for _, y := range a.authorities {
		d.sources = append(d.sources, &source{authority: y})
	}
	d.manager = &autocert.Manager{Cache: &attempt{domain: d}} // answers the challenges of other nodes
	return d
}

// CheckDomain returns an error unless a certificate can be had for the name: it has two
// labels or more, of which the last begins with a letter.
func CheckDomain(name string) error {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if !canonical.IsName(name, "") || strings.ToLower(name) != name || last == name || last[0] < 'a' {
		return hint.New(fmt.Sprintf("%q is not a domain that a certificate can be issued for", name), "write it in full and in small letters, without port or *, such as data.example.com (an international one as xn--…)")
	}
	return nil
}

// begin reports whether to ask for a certificate now, and prepares that. It goes by the
// wall clock, since a timer doesn't see that the clock is set or the machine sleeps.
func (d *domain) begin(now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.due(now) || d.running || now.Before(d.next()) || d.acme.life.Err() != nil {
		return false
	}
	if d.tried == nil {
		d.tried = make(chan struct{})
	}
	d.running = true
	return true
}

func (d *domain) due(now time.Time) bool {
	return d.served == nil || !now.Before(d.renewAt())
}

// try takes the certificate from the store, or gets it from an authority.
func (d *domain) try() {
	d.logNext()
	err := d.get()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running = false
	defer close(d.tried) // when the error is recorded
	d.tried = nil
	switch {
	case err == nil:
		for _, s := range d.sources {
			s.succeeded()
		}
	case err == errElsewhere:
		d.lookAgain()
	case d.acme.life.Err() == nil:
		if now := d.acme.config.Now(); !now.Before(d.next()) { // the store failed, and nobody was asked
			d.sources[0].failed(now, false, false, 0)
		}
		d.recordIfNone(err, "getting a certificate failed")
		d.logFailure()
	}
}

// errElsewhere says that another node is getting the certificate.
var errElsewhere = errors.New("another node is getting the certificate")

// elsewherePause is how long after that it is looked whether the node has it. Clients
// wait meanwhile.
const elsewherePause = time.Second

// lookAgain looks for another node's certificate, as the next Refresh does, but soon if
// there is none to serve.
func (d *domain) lookAgain() {
	if d.served != nil {
		return
	}
	if d.again != nil {
		d.again.Stop()
	}
	d.tried = make(chan struct{})
	d.again = time.AfterFunc(elsewherePause, func() {
		if d.begin(d.acme.config.Now()) {
			d.try()
		}
	})
}

func (d *domain) get() error {
	due, err := d.stillDue()
	if !due || err != nil {
		return err
	}
	held, err := d.hold(func(ctx context.Context) error {
		d.yield()
		if due, err := d.stillDue(); !due || err != nil {
			return err
		}
		err := d.order(ctx)
		if err != nil {
			d.keepHold()
		}
		return err
	})
	if err == nil && !held {
		err = errElsewhere
	}
	return err
}

func (d *domain) hold(fn func(ctx context.Context) error) (held bool, err error) {
	return d.acme.store.Hold(d.acme.life, "certificate "+d.name, fn)
}

// keepHold holds the domain after a failed attempt, until the next one of this node. If
// each node made attempts of its own, they would fail too often for the authority.
func (d *domain) keepHold() {
	next, yield := context.WithCancel(d.acme.life)
	d.yield = yield
	held := make(chan struct{})
	go func() {
		defer yield()
		holding := sync.OnceFunc(func() { close(held) })
		defer holding()
		_, _ = d.hold(func(ctx context.Context) error {
			holding()
			select {
			case <-ctx.Done():
			case <-next.Done():
			}
			return nil
		})
	}()
	<-held
}

// stillDue loads what the store has, and reports whether that is due.
func (d *domain) stillDue() (bool, error) {
	err := d.load(d.acme.life)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.due(d.acme.config.Now()), err
}

func (d *domain) logFailure() {
	msg := "there is no certificate for this domain yet: its clients are refused"
	if d.served != nil {
		msg = "the certificate is still due for renewal: it stays in use"
	}
	d.log.Warn().Time("nextTry", d.next()).Msg(msg)
}

func (d *domain) serve(c *tls.Certificate, by *authority) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.served, d.issuer, d.renewal = c, by, renewal{}
}

// certificate returns the one to serve. It may wait for an attempt that runs, but
// never starts one.
func (d *domain) certificate(ctx context.Context) (*tls.Certificate, error) {
	served, tried := d.state()
	if served != nil {
		return served, nil
	}
	ctx, cancel := context.WithTimeout(ctx, handshakeWait)
	defer cancel()
	for served == nil && tried != nil && ctx.Err() == nil {
		select {
		case <-tried:
		case <-ctx.Done():
		}
		served, tried = d.state()
	}
	if served == nil {
		return nil, errNotThere
	}
	return served, nil
}

func (d *domain) state() (served *tls.Certificate, tried <-chan struct{}) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.served, d.tried
}

func (d *domain) status() store.CertificateStatus {
	status := d.lastError.status(d.name)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.served != nil {
		status.NotAfter, status.NextRenewal, status.Authority = d.served.Leaf.NotAfter, d.renewAt(), d.issuer.directory
	}
	return status
}
