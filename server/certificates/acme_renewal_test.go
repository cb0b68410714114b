package certificates

import (
	"crypto/ecdsa"
	"net"
	"strings"
	"testing"
	"time"

	"teamdata/internal/acmetest"
)

// A certificate is renewed again and again while clients come all the time.
func TestRenewalUnderLoad(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), acmetest.New(t)
	a, _ := s.acme(authority, ACMEConfig{renewBefore: 9 * time.Second})
	authority.Open(acmetest.Config{TLSPort: s.port(), Life: 10 * time.Second})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	stop := s.load(domainOfTests, authority.Issued)
	s.await(issued, 3)
	if s.mustGet(domainOfTests, authority.Issued).SerialNumber.Cmp(first.SerialNumber) == 0 {
		t.Error("the first certificate is still served")
	}
	if n := stop(); n < 10 {
		t.Errorf("only %d requests: no load", n)
	}
	if status := a.Status()[0]; status.LastError != "" {
		t.Errorf("the status is %+v", status)
	}
}

// While the authority can't be reached, the old certificate is served, and the error
// is reported. The certificate is renewed at the next start at the latest.
func TestAuthorityIsDown(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), acmetest.New(t)
	short := ACMEConfig{renewBefore: 8 * time.Second}
	a, stop := s.acme(authority, short)
	authority.Open(acmetest.Config{TLSPort: s.port(), Life: 11 * time.Second}) // renewed after a second or two
	s.serve(a)
	s.tried(a)
	authority.Stop()
	loaded := s.load(domainOfTests, authority.Issued)
	s.await("connection refused", 1)
	before := strings.Count(s.log.String(), issued)
	last := s.mustGet(domainOfTests, authority.Issued)
	if status := a.Status()[0]; status.LastError == "" || !strings.Contains(status.LastError, "connection refused") ||
		status.LastErrorAt.IsZero() || !status.NotAfter.Equal(last.NotAfter) {
		t.Errorf("the status is %+v", status)
	}
	loaded()

	stop()
	authority.Start()
	a, _ = s.acme(authority, short)
	s.l.Close()
	s.listenAgain()
	s.serve(a)
	s.tried(a)
	s.await(issued, before+1)
	if status := a.Status()[0]; status.LastError != "" {
		t.Errorf("the status is %+v", status)
	}
}

// listenAgain listens where it did before, as a restart does.
func (s *env) listenAgain() {
	s.Helper()
	l, err := net.Listen("tcp", s.l.Addr().String())
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Close() })
	s.l = l
}

// A restart makes no call.
func TestRestart(t *testing.T) {
	t.Parallel()
	s, authority := newEnv(t), acmetest.New(t)
	a, stop := s.acme(authority, ACMEConfig{})
	authority.Open(acmetest.Config{TLSPort: s.port()})
	s.serve(a)
	s.tried(a)
	first := s.mustGet(domainOfTests, authority.Issued)
	stop()
	authority.Stop()
	account := a.account

	s.l.Close()
	s.listenAgain()
	a, _ = s.acme(authority, ACMEConfig{})
	before := s.log.String()
	s.serve(a)
	s.run(a) // the client waits until the store was read
	if again := s.mustGet(domainOfTests, authority.Issued); !again.Equal(first) {
		t.Error("it is another certificate")
	}
	if status := a.Status()[0]; status.LastError != "" || s.log.String() != before {
		t.Errorf("the status is %+v, and the log says:\n%s", status, s.log)
	}
	if !account.(*ecdsa.PrivateKey).Equal(a.account) {
		t.Error("it is another account")
	}
}

// A certificate of one authority, such as one for staging, is not served when
// another is configured.
func TestOtherAuthority(t *testing.T) {
	t.Parallel()
	s, staging, production := newEnv(t), acmetest.New(t), acmetest.New(t)
	first, stop := s.acme(staging, ACMEConfig{})
	staging.Open(acmetest.Config{TLSPort: s.port()})
	s.serve(first)
	s.tried(first)
	s.mustGet(domainOfTests, staging.Issued)
	stop()

	s.l.Close()
	s.listenAgain()
	second, _ := s.acme(production, ACMEConfig{})
	production.Open(acmetest.Config{TLSPort: s.port()})
	s.serve(second)
	s.tried(second)
	s.mustGet(domainOfTests, production.Issued)
	if first.account.(*ecdsa.PrivateKey).Equal(second.account) {
		t.Error("both authorities know the same account key")
	}
}
