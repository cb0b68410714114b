package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	netmail "net/mail"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"teamdata/internal/netguard"
)

// relay is the mail server and how to connect to it. Closures hide the user and
// the password, so printing a relay never shows them.
type relay struct {
	host     string
	address  string // host:port
	implicit bool   // TLS from the first byte
	tls      *tls.Config
	options  []gomail.Option
	login    func() *login // for one mail
	redact   func(string) string
}

func newRelay(text string, roots *x509.CertPool, timeout time.Duration) (*relay, error) {
	u, err := parseURL(text)
	if err != nil {
		return nil, err
	}
	r := &relay{
		host:     u.Hostname(),
		address:  net.JoinHostPort(u.Hostname(), portOf(u)),
		implicit: u.Scheme == "smtps",
		tls:      &tls.Config{ServerName: u.Hostname(), RootCAs: roots, MinVersion: tls.VersionTLS12},
		login: func() *login {
			password, _ := u.User.Password()
			return &login{user: u.User.Username(), password: password, host: u.Hostname()}
		},
		redact: redactor(u.User),
	}
	r.options = []gomail.Option{
		gomail.WithTimeout(timeout), // starts later than ours, so it never expires first
		gomail.WithTLSConfig(r.tls),
		gomail.WithTLSPolicy(r.policy(u.User)),
		gomail.WithoutNoop(),
		gomail.WithoutRset(), // else a failed RSET hides that the mail was taken
	}
	return r, nil
}

// policy is go-mail's policy for STARTTLS. On a TLS connection it must be
// opportunistic: otherwise go-mail doesn't notice the TLS and withholds the
// password.
func (r *relay) policy(user *url.Userinfo) gomail.TLSPolicy {
	if r.implicit || user.Username() == "" && netguard.IsLoopback(r.host) {
		return gomail.TLSOpportunistic
	}
	return gomail.TLSMandatory
}

// deliver returns nil once the server accepted msg, whatever happens after that.
func (r *relay) deliver(ctx context.Context, msg *gomail.Msg) error {
	var options []gomail.Option
	if !needsUTF8(msg) {
		// A server may refuse to relay a mail that requires SMTPUTF8 to servers
		// without it.
		options = append(options, gomail.WithoutSMTPUTF8())
	}
	return r.loggedIn(ctx, options, func(client *gomail.Client, session *smtp.Client) error {
		return client.SendWithSMTPClient(session, msg)
	})
}

// loggedIn calls work in a session after TLS and the password.
func (r *relay) loggedIn(ctx context.Context, options []gomail.Option, work func(*gomail.Client, *smtp.Client) error) error {
	for l := r.login(); ; {
		if err := r.session(ctx, options, l, work); !l.again {
			return err
		}
	}
}

func (r *relay) session(ctx context.Context, options []gomail.Option, l *login, work func(*gomail.Client, *smtp.Client) error) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", r.address)
	if err != nil {
		return err
	}
	// go-mail watches ctx only while it dials, extends its deadlines on the way, and
	// leaves the connection open when STARTTLS or AUTH fails.
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()

	dial := gomail.WithDialContextFunc(func(ctx context.Context, _, _ string) (net.Conn, error) {
		if !r.implicit {
			return conn, nil
		}
		secured := tls.Client(conn, r.tls)
		return secured, secured.HandshakeContext(ctx)
	})
	hostname, _ := os.Hostname()
	helo := gomail.WithHELO(clientName(hostname, conn.LocalAddr()))
	client, err := gomail.NewClient(r.host, slices.Concat([]gomail.Option{dial, helo}, r.options, options)...)
	if err != nil {
		return err
	}
	session, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return err
	}
	if err := l.in(session); err != nil {
		return err
	}
	err = work(client, session)
	_ = client.CloseWithSMTPClient(session) // QUIT is a courtesy
	return err
}

// clientName is what EHLO says (RFC 5321, section 4.1.4): this machine's full name, or
// its address on the connection where it has none. Many servers refuse a bare name.
func clientName(hostname string, local net.Addr) string {
	if strings.Contains(strings.Trim(hostname, "."), ".") && !strings.ContainsFunc(hostname, notInName) {
		return hostname
	}
	addr := local.(*net.TCPAddr).AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() {
		return "[IPv6:" + addr.String() + "]"
	}
	return "[" + addr.String() + "]"
}

func needsUTF8(msg *gomail.Msg) bool {
	return slices.ContainsFunc(msg.GetTo(), func(to *netmail.Address) bool { return !isASCII(to.Address) })
}
