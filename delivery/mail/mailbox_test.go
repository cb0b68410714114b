package mail

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"teamdata/internal/localca"
)

const (
	user     = "alerts@example.com"
	password = `pa:ss/w?rd"#%5`
	userinfo = "alerts%40example.com:pa%3Ass%2Fw%3Frd%22%23%255@"
)

// envelope is a mail that a mailbox received, and how.
type envelope struct {
	from, to  string // of the envelope
	mechanism string // of AUTH, if any
	tls       bool
	utf8      bool // asked for SMTPUTF8
	text      []byte
}

// mailbox is an SMTP server on a loopback socket.
type mailbox struct {
	mechanisms []string         // that it offers; none means no AUTH
	refuse     map[string]error // by command
	implicit   bool             // TLS from the first byte
	plain      bool             // no TLS at all
	oldTLS     bool             // nothing above TLS 1.1
	listen     string           // "127.0.0.1:0" if empty

	addr     net.Addr
	received chan envelope
}

// identity is a certificate for loopback hosts, and the roots that verify it.
var identity = sync.OnceValues(func() (*tls.Config, *x509.CertPool) {
	ca, err := localca.NewCA(time.Now(), "box")
	if err != nil {
		panic(err)
	}
	pem, err := ca.Issue(time.Now(), localca.LocalHosts(""))
	if err != nil {
		panic(err)
	}
	leaf, err := localca.LoadLeaf(pem)
	if err != nil {
		panic(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.CertificatePEM())
	return &tls.Config{Certificates: []tls.Certificate{leaf}}, roots
})

func (m *mailbox) open(t *testing.T) *mailbox {
	t.Helper()
	if m.listen == "" {
		m.listen = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", m.listen)
	if err != nil {
		t.Skipf("no loopback %s: %v", m.listen, err)
	}
	m.addr, m.received = l.Addr(), make(chan envelope, 1)
	server := smtp.NewServer(m)
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.EnableSMTPUTF8 = true
	config, _ := identity()
	if m.oldTLS {
		config = &tls.Config{Certificates: config.Certificates, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	}
	if m.implicit {
		l = tls.NewListener(l, config)
	} else if !m.plain {
		server.TLSConfig = config
	}
	server.AllowInsecureAuth = m.plain
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return m
}

func (m *mailbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secured := c.TLSConnectionState()
	return &session{m, envelope{tls: secured}}, nil
}

type session struct {
	*mailbox
	envelope envelope
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

func (s *session) Mail(from string, options *smtp.MailOptions) error {
	s.envelope.from, s.envelope.utf8 = from, options.UTF8
	return s.refuse["MAIL"]
}

func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.envelope.to = to
	return s.refuse["RCPT"]
}

func (s *session) Data(r io.Reader) (err error) {
	if s.envelope.text, err = io.ReadAll(r); err != nil {
		return err
	}
	if err := s.refuse["DATA"]; err != nil {
		return err
	}
	s.received <- s.envelope
	return nil
}

func (s *session) AuthMechanisms() []string { return s.mechanisms }

func (s *session) Auth(mechanism string) (sasl.Server, error) {
	if !slices.Contains(s.mechanisms, mechanism) {
		return nil, smtp.ErrAuthUnknownMechanism
	}
	s.envelope.mechanism = mechanism
	switch mechanism {
	case sasl.Plain:
		return sasl.NewPlainServer(func(_, u, p string) error { return check(u, p) }), nil
	case sasl.Login:
		return &dialogue{questions: []string{"Username:", "Password:"}, check: func(a []string) error { return check(a[0], a[1]) }}, nil
	}
	return &dialogue{questions: []string{"<1@box>"}, check: checkCRAM}, nil
}

func check(u, p string) error {
	if u != user || p != password {
		return smtp.ErrAuthFailed
	}
	return nil
}

func checkCRAM(answers []string) error {
	mac := hmac.New(md5.New, []byte(password))
	io.WriteString(mac, "<1@box>")
	if answers[0] != fmt.Sprintf("%s %x", user, mac.Sum(nil)) {
		return smtp.ErrAuthFailed
	}
	return nil
}

// dialogue is the server's side of LOGIN and CRAM-MD5, which go-sasl lacks.
type dialogue struct {
	questions, answers []string
	check              func(answers []string) error
}

func (d *dialogue) Next(response []byte) (challenge []byte, done bool, err error) {
	if response != nil {
		d.answers = append(d.answers, string(response))
	}
	if n := len(d.answers); n < len(d.questions) {
		return []byte(d.questions[n]), false, nil
	} else if n > len(d.questions) {
		return nil, false, errors.New("an answer too many")
	}
	return nil, true, d.check(d.answers)
}
