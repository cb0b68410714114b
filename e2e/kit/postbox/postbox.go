// Package postbox is an SMTP server on the loopback address that keeps the mail that
// it is sent. It is for tests, and registers no flags: teamdatatest imports it.
//
// It imports nothing of ours. How a mail is composed and sent is a matter of
// delivery/mail.
package postbox

import (
	"context"
	"crypto/tls"
	"io"
	"maps"
	"net"
	"slices"
	"sync"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// The credentials that a postbox with TLS wants.
const (
	user     = "teamdata"
	password = "s3cr3t"
)

// Config is how a postbox behaves. The zero value takes all mail.
type Config struct {
	TLS    *tls.Config // for STARTTLS, which mail needs then, as well as a password; nil: neither
	PutOff bool        // the first mail to each recipient is answered with 451
}

// Postbox is a running server.
type Postbox struct {
	URL string // of the server, with its credentials if it wants any

	config Config
	server *smtp.Server
	served sync.WaitGroup

	mu      sync.Mutex
	putOff  map[string]bool // recipients
	mails   []Mail
	next    int           // the mail that Next returns
	arrived chan struct{} // closed with the next mail
}

// Open starts a server on a free port. Close ends it.
func Open(c Config) (*Postbox, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	b := &Postbox{
		URL: "smtp://" + l.Addr().String(), config: c,
		putOff: map[string]bool{}, arrived: make(chan struct{}),
	}
	if c.TLS != nil {
		b.URL = "smtp://" + user + ":" + password + "@" + l.Addr().String()
	}
	b.server = smtp.NewServer(b)
	b.server.TLSConfig = c.TLS
	b.served.Go(func() { b.server.Serve(l) })
	return b, nil
}

// Close ends the server and its connections.
func (b *Postbox) Close() error {
	err := b.server.Close()
	b.served.Wait()
	return err
}

// Next waits for the next mail, in order of arrival. It returns ctx's error if ctx is
// done first.
func (b *Postbox) Next(ctx context.Context) (Mail, error) {
	for {
		m, ok, arrived := b.take()
		if ok {
			return m, nil
		}
		select {
		case <-arrived:
		case <-ctx.Done():
			return m, ctx.Err()
		}
	}
}

func (b *Postbox) take() (m Mail, ok bool, arrived <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok = b.next < len(b.mails); ok {
		m = b.mails[b.next]
		b.next++
	}
	return m, ok, b.arrived
}

// Mails returns all mail that has arrived, in order.
func (b *Postbox) Mails() []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.mails)
}

// Empty forgets all mail.
func (b *Postbox) Empty() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails, b.next = nil, 0
}

// PutOff returns the recipients that were put off, in order of their addresses.
func (b *Postbox) PutOff() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(maps.Keys(b.putOff))
}

func (b *Postbox) put(m Mail) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mails = append(b.mails, m)
	close(b.arrived)
	b.arrived = make(chan struct{})
}

// refuses reports whether a recipient is put off now.
func (b *Postbox) refuses(recipient string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	first := b.config.PutOff && !b.putOff[recipient]
	if first {
		b.putOff[recipient] = true
	}
	return first
}

// NewSession is for the SMTP server.
func (b *Postbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secured := c.TLSConnectionState()
	return &session{Postbox: b, secured: secured, known: b.config.TLS == nil}, nil
}

// session is a connection to the postbox.
type session struct {
	*Postbox
	secured, known bool
	recipient      string
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, secret string) error {
		if s.known = s.secured && name == user && secret == password; !s.known {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *session) Mail(string, *smtp.MailOptions) error {
	if !s.known {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.recipient = to
	if s.refuses(to) {
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "come back later"}
	}
	return nil
}

func (s *session) Data(r io.Reader) error {
	m, err := read(r)
	if err != nil {
		return err
	}
	m.To = s.recipient
	s.put(m)
	return nil
}
