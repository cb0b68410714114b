// Package mail sends one mail over SMTP: text and HTML, made from a template,
// to one person.
//
// [Sender.Send] tries once. The caller's queue keeps the mails and tries failed
// ones again, unless the error is [Permanent]. A mail may arrive twice if the
// connection breaks after the server accepted it; both copies then have the same
// Message-ID.
//
// Neither a password nor a mail crosses a network in plain text: smtps:// uses
// TLS from the first byte, smtp:// switches to TLS by STARTTLS before anything is
// sent. The only exception is a mail without a password to a server on this
// machine that offers no STARTTLS.
//
// It may import internal/canonical, internal/netguard, and store for the form of an address. A new
// mail is two files in templates and a line in template.go; url.go and address.go
// parse the operator's settings; login.go has the mechanisms of AUTH; failure.go words the
// errors.
package mail

import (
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	netmail "net/mail"
	"net/url"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"
)

// defaultTimeout allows for servers that delay their greeting to deter spammers.
const defaultTimeout = 30 * time.Second

// Config is the mail server and the sender's address.
type Config struct {
	// URL is smtp://user:password@host:port for STARTTLS, or smtps:// for TLS
	// from the start. User and password are percent-encoded and both optional.
	// The default port is 587 for smtp and 465 for smtps.
	URL string

	// From is the sender's address, with or without a name:
	// "Teamdata <alerts@example.com>".
	From string

	// SettingsURL is the http or https address of the settings page, which the
	// texts link to.
	SettingsURL string

	// RootCAs may issue the server's certificate; nil means the system's.
	RootCAs *x509.CertPool
	// Time is the clock that it is verified by; nil means the system's.
	Time func() time.Time

	// Timeout is for one whole mail; 0 means 30 seconds.
	Timeout time.Duration
}

// Message is one mail to one person.
type Message struct {
	// ID is used for the Message-ID: 1 to 128 letters, digits, or any of "_-.".
	ID string

	To   string // the address alone
	Name string // of the person; may be empty

	Template  string            // "endpointDisabled", "notPulled", "certificateExpiring", "clientCertificateExpiring" or "signInLink"
	Values    map[string]string // of all placeholders of the template
	CreatedAt time.Time         // for the Date header
}

// Sender sends mails. Create it with [New]. It is safe for concurrent use; each
// Send uses its own connection.
type Sender struct {
	relay    *relay
	from     *netmail.Address
	settings string
	timeout  time.Duration
}

// New checks c and returns a Sender. It opens no connection. The error is one
// line that says how to fix the setting, and never contains the password.
func New(c Config) (*Sender, error) {
	if c.Timeout < 0 {
		return nil, fmt.Errorf("mail timeout %s is negative: give a positive one, or 0 for %s", c.Timeout, defaultTimeout)
	}
	timeout := cmp.Or(c.Timeout, defaultTimeout)
	r, err := newRelay(c.URL, c.RootCAs, timeout)
	if err != nil {
		return nil, err
	}
	r.tls.Time = c.Time
	from, err := parseSender(c.From)
	if err != nil {
		return nil, err
	}
	if err := checkSettings(c.SettingsURL); err != nil {
		return nil, err
	}
	return &Sender{r, from, c.SettingsURL, timeout}, nil
}

func checkSettings(text string) error {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("settings address %q is not an http or https URL: write it like https://teamdata.example.com/settings", text)
	}
	return nil
}

// Send hands m to the mail server, within the timeout and until ctx is done. Nil
// means that the server accepted it. The error is one line, and contains neither
// the password nor the text of the mail.
func (s *Sender) Send(ctx context.Context, m Message) error {
	msg, err := s.compose(m)
	if err != nil {
		return &failure{text: oneLine(err.Error()), permanent: true, cause: err}
	}
	return s.within(ctx, "sent", func(ctx context.Context) error { return s.relay.deliver(ctx, msg) })
}

// Server is the host:port of the mail server.
func (s *Sender) Server() string { return s.relay.address }

// LogIn does everything that Send does before sending a mail: TLS, and the
// password. Its errors are like those of Send.
func (s *Sender) LogIn(ctx context.Context) error {
	return s.within(ctx, "logged in", func(ctx context.Context) error {
		return s.relay.loggedIn(ctx, nil, func(*gomail.Client, *smtp.Client) error { return nil })
	})
}

func (s *Sender) within(ctx context.Context, done string, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, s.timeout, fmt.Errorf("not %s within %s", done, s.timeout))
	defer cancel()
	if err := work(ctx); err != nil {
		return s.relay.failure(ctx, err)
	}
	return nil
}
