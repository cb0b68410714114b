package testkit

import (
	"bytes"
	"io"
	netmail "net/mail"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"

	"teamdata/internal/localca"
)

// postbox is an SMTP server that wants STARTTLS and AUTH, and answers each
// recipient's first mail with 451.
type Postbox struct {
	URL, CAFile string
	Mails       chan []byte

	mu  sync.Mutex
	put map[string]bool // recipients that were put off
	to  []string        // of what arrived
	all []byte
}

func OpenPostbox(t testing.TB) *Postbox {
	t.Helper()
	l := Loopback(t)
	box := &Postbox{
		URL: "smtp://teamdata:s3cr3t@" + l.Addr().String(), CAFile: filepath.Join(t.TempDir(), "smtp.ca.pem"),
		Mails: make(chan []byte, 10), put: map[string]bool{},
	}
	config, err := localca.Loopback(time.Now(), "postbox", box.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(box)
	server.TLSConfig = config
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return box
}

func (b *Postbox) Next(t testing.TB) {
	t.Helper()
	select {
	case b.all = <-b.Mails:
	case <-time.After(20 * time.Second):
		t.Fatal("no mail came")
	}
}

func (b *Postbox) Recipients() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.to))
}

// text is the last mail, with its soft line breaks taken out.
func (b *Postbox) Text(t testing.TB) string {
	t.Helper()
	m, err := netmail.ReadMessage(bytes.NewReader(b.all))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(m.Body)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(body), "=\r\n", "")
}

func (b *Postbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secured := c.TLSConnectionState()
	return &postboxSession{Postbox: b, secured: secured}, nil
}

type postboxSession struct {
	*Postbox
	secured, known bool
	recipient      string
}

func (s *postboxSession) Reset()        {}
func (s *postboxSession) Logout() error { return nil }

func (s *postboxSession) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *postboxSession) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, password string) error {
		if s.known = s.secured && user == "teamdata" && password == "s3cr3t"; !s.known {
			return smtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *postboxSession) Mail(string, *smtp.MailOptions) error {
	if !s.known {
		return smtp.ErrAuthRequired
	}
	return nil
}

func (s *postboxSession) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.recipient = to
	if !s.put[to] {
		s.put[to] = true
		return &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1}, Message: "come back later"}
	}
	return nil
}

func (s *postboxSession) Data(r io.Reader) error {
	mail, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, s.recipient)
	s.Mails <- mail
	return nil
}

// Deferred is how many recipients were put off.
func (b *Postbox) Deferred() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.put)
}
