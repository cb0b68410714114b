package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	netmail "net/mail"
	"os"
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

// The contract's "disabled: the org's administrators are told by e-mail", over
// real sockets with a short schedule: an endpoint that fails every attempt is
// disabled, and its owners and admins get one mail each from a server that wants
// STARTTLS and AUTH, and that puts each off once.
func TestMailOfADisabledEndpoint(t *testing.T) {
	box := openPostbox(t)
	receiverCA := filepath.Join(t.TempDir(), "receiver.ca.pem")
	url, stop, err := serveWithOwnCA(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "no disk left", http.StatusInternalServerError)
	}), receiverCA)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	secretFile := filepath.Join(t.TempDir(), "smtp-url")
	if err := os.WriteFile(secretFile, []byte(box.url+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEAMDATA_SMTP_URL_FILE", secretFile)
	data := filepath.Join(t.TempDir(), "teamdata.db")
	flags := []string{"--retry-schedule", "1ms,1ms,1ms,1ms,1ms", "--webhook-ca", receiverCA, "--allow-endpoint-cidr", "127.0.0.1/32",
		"--smtp-ca", box.caFile, "--mail-from", "teamdata@acme.example", "--mail-retry-schedule", "10ms", "--public-url", "https://data.acme.example"}
	p := serveProcess(t, data, append(flags, "--seed", mailSeed(t, url))...)

	sent := p.must("POST", "/webhooks/whe_hook/test", writeKey)
	for range 2 {
		box.next(t)
	}
	if to := box.recipients(); !slices.Equal(to, []string{"ada@acme.example", "bob@acme.example"}) {
		t.Errorf("mail went to %v", to)
	}
	text := box.text(t)
	for _, want := range []string{"whe_hook", "500 Internal Server Error", "https://data.acme.example/settings", "webhook.test"} {
		if !strings.Contains(text, want) {
			t.Errorf("the mail lacks %s:\n%s", want, text)
		}
	}
	if again := p.must("POST", "/webhooks/whe_hook/test", writeKey); again.status != http.StatusConflict {
		t.Errorf("the disabled endpoint answers a test with %d after %s", again.status, sent.body)
	}
	if log := p.must("GET", "/audit-log", readKey).body; !strings.Contains(log, `"actorId":null,"action":"endpoint.disabled","targetId":"whe_hook"`) {
		t.Errorf("the audit log is %s", log)
	}
	if err := p.stop(); err != nil {
		t.Errorf("it ended with %v", err)
	}
	if out := p.out.String(); strings.Contains(out, "s3cr3t") || !strings.Contains(out, "451") {
		t.Errorf("the log shows the password, or not that the server put a mail off:\n%s", out)
	}

	// Nothing is sent twice: not after a restart either.
	serveProcess(t, data, flags...).stop()
	if n := len(box.letters); n > 0 {
		t.Errorf("%d mails too many", n)
	}
}

// mailSeed is an org with an owner, an admin, and a member who gets no mail.
func mailSeed(t *testing.T, url string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seed.json")
	content := fmt.Sprintf(`{"orgs":[{"id":"org_acme","name":"Acme","members":[
		{"userId":"usr_ada","role":"owner","name":"Ada","email":"ada@acme.example"},
		{"userId":"usr_bob","role":"admin","email":"bob@acme.example"},
		{"userId":"usr_cy","role":"member","email":"cy@acme.example"}],
		"apiKeys":[{"id":"key_write","secret":"example-writer-secret","scopes":["write"],"createdBy":"usr_ada"},
			{"id":"key_read","secret":"example-reader-secret","scopes":["read"],"createdBy":"usr_ada"}],
		"webhooks":[{"id":"whe_hook","url":%q,"events":["webhook.test"]}]}]}`, url)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// postbox is an SMTP server that wants STARTTLS and AUTH, and answers each
// recipient's first mail with 451.
type postbox struct {
	url, caFile string
	letters     chan []byte

	mu  sync.Mutex
	put map[string]bool // recipients that were put off
	to  []string        // of what arrived
	all []byte
}

func openPostbox(t *testing.T) *postbox {
	t.Helper()
	ca, err := localca.NewCA(time.Now(), "postbox")
	if err != nil {
		t.Fatal(err)
	}
	pem, err := ca.Issue(time.Now(), []string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := localca.LoadLeaf(pem)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	box := &postbox{
		url: "smtp://teamdata:s3cr3t@" + l.Addr().String(), caFile: filepath.Join(t.TempDir(), "smtp.ca.pem"),
		letters: make(chan []byte, 10), put: map[string]bool{},
	}
	if err := os.WriteFile(box.caFile, ca.CertificatePEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	server := smtp.NewServer(box)
	server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{leaf}}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return box
}

func (b *postbox) next(t *testing.T) {
	t.Helper()
	select {
	case b.all = <-b.letters:
	case <-time.After(20 * time.Second):
		t.Fatal("no mail came")
	}
}

func (b *postbox) recipients() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Sorted(slices.Values(b.to))
}

// text is the last letter, with its soft line breaks taken out.
func (b *postbox) text(t *testing.T) string {
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

func (b *postbox) NewSession(c *smtp.Conn) (smtp.Session, error) {
	_, secured := c.TLSConnectionState()
	return &postboxSession{postbox: b, secured: secured}, nil
}

type postboxSession struct {
	*postbox
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
	letter, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.to = append(s.to, s.recipient)
	s.letters <- letter
	return nil
}
