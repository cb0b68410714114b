package certificates

import (
	"bytes"
	"context"
	"crypto/x509"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/localca"
)

// pair is a certificate and its key, as two files hold them.
type pair struct{ cert, key []byte }

// operator keeps the files, which its own authority issues.
type operator struct {
	testing.TB
	ca        *localca.CA
	roots     *x509.CertPool
	cert, key string // files
	now       time.Time
}

func newOperator(t testing.TB) *operator {
	t.Helper()
	o := &operator{TB: t, now: time.Now(), roots: x509.NewCertPool()}
	folder := t.TempDir()
	o.cert, o.key = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	var err error
	if o.ca, err = localca.NewCA(o.now.AddDate(-2, 0, 0), "operator"); err != nil {
		t.Fatal(err)
	}
	o.roots.AppendCertsFromPEM(o.ca.CertificatePEM())
	o.write(o.issue(o.now))
	return o
}

func (o *operator) issue(now time.Time) pair {
	o.Helper()
	text, err := o.ca.Issue(now, []string{"data.acme.test"})
	kit.Must(o, err)
	at := bytes.Index(text, []byte("-----BEGIN PRIVATE KEY"))
	return pair{text[:at], text[at:]}
}

func (o *operator) write(p pair) {
	o.put(o.cert, p.cert)
	o.put(o.key, p.key)
}

// put replaces a file, as programs do that renew certificates.
func (o *operator) put(file string, text []byte) {
	o.Helper()
	kit.WriteFile(o, file+".new", string(text))
	kit.Must(o, os.Rename(file+".new", file))
}

func (o *operator) files(s *env) *Files {
	o.Helper()
	f, err := NewFiles(FilesConfig{Cert: o.cert, Key: o.key, Log: s.Logger(), Now: func() time.Time { return o.now }})
	kit.Must(o, err)
	return f
}

// New connections get the new certificate, and no request fails meanwhile.
func TestFilesAreReplaced(t *testing.T) {
	t.Parallel()
	s, o := newEnv(t), newOperator(t)
	f := o.files(s)
	s.Serve(f.TLS())
	stop := s.Load(domainOfTests, o.roots)
	for n := range 8 {
		before := s.MustGet(domainOfTests, o.roots)
		next := o.issue(o.now)
		o.put(o.cert, next.cert)
		f.Refresh(t.Context()) // half of it is there
		if !s.MustGet(domainOfTests, o.roots).Equal(before) {
			t.Fatal("half a change is served")
		}
		o.put(o.key, next.key)
		f.Refresh(t.Context())
		if s.MustGet(domainOfTests, o.roots).Equal(before) {
			t.Fatalf("change %d is not served; the log says:\n%s", n, s.Log)
		}
	}
	stop()
	if status := f.Status()[0]; status.LastError != "" || status.Name != o.cert || !status.NextRenewal.IsZero() ||
		!status.NotAfter.Equal(leafOf(t, f).NotAfter) {
		t.Errorf("the status is %+v", status)
	}
}

// An unusable certificate is not served, and the log says so once.
func TestFilesAreRubbish(t *testing.T) {
	t.Parallel()
	s, o := newEnv(t), newOperator(t)
	good, other := o.issue(o.now), o.issue(o.now)
	o.write(good)
	f := o.files(s)
	first := leafOf(t, f)
	for _, row := range []struct {
		name string
		pair
		want string
	}{
		{"rubbish", pair{[]byte("rubbish"), good.key}, "failed to find any PEM data in certificate input"},
		{"nothing", pair{nil, nil}, "failed to find any PEM data"},
		{"half a certificate", pair{good.cert[:len(good.cert)/2], good.key}, "failed to find any PEM data"},
		{"half a key", pair{good.cert, good.key[:len(good.key)/2]}, "failed to find any PEM data in key input"},
		{"another's key", pair{good.cert, other.key}, "private key does not match public key"},
		{"expired", o.issue(o.now.AddDate(0, 0, -397)), "it is valid from .*; put a current one there"},
		{"not yet valid", o.issue(o.now.AddDate(0, 0, 1)), "it is valid from"},
	} {
		o.write(row.pair)
		before := len(s.Log.String())
		for range 3 {
			f.Refresh(t.Context())
		}
		said := s.Log.String()[before:]
		start, _, _ := strings.Cut(row.want, ".*")
		if strings.Count(said, "\n") != 1 || !strings.Contains(said, start) || strings.Contains(said, "PRIVATE KEY--") {
			t.Errorf("%s: the log says:\n%s", row.name, said)
		}
		if status := f.Status()[0]; status.LastError == "" || !status.LastErrorAt.Equal(o.now) || !status.NotAfter.Equal(first.NotAfter) {
			t.Errorf("%s: the status is %+v", row.name, status)
		}
		if !leafOf(t, f).Equal(first) {
			t.Errorf("%s is served", row.name)
		}
		if _, err := NewFiles(FilesConfig{Cert: o.cert, Key: o.key}); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: a start ends with %v", row.name, err)
		}
	}
}

// A file is missing for a while, and a certificate becomes valid later.
func TestFilesRecover(t *testing.T) {
	t.Parallel()
	s, o := newEnv(t), newOperator(t)
	f := o.files(s)
	kit.Must(t, os.Remove(o.key))
	for range 3 {
		f.Refresh(t.Context())
	}
	if said := s.Log.String(); strings.Count(said, "\n") != 1 || !strings.Contains(said, "no such file") {
		t.Errorf("the log says:\n%s", said)
	}
	next := o.issue(o.now.Add(2 * time.Hour)) // valid in an hour
	o.write(next)
	f.Refresh(t.Context())
	if f.Status()[0].LastError == "" {
		t.Fatal("it is served before its time")
	}
	o.now = o.now.Add(time.Hour + time.Second)
	if f.Refresh(t.Context()); f.Status()[0].LastError != "" {
		t.Errorf("the status is %+v", f.Status()[0])
	}
	said := s.Log.String()
	if f.Refresh(t.Context()); s.Log.String() != said {
		t.Errorf("without a change the log says more:\n%s", s.Log)
	}
}

// A signal refreshes at once.
func TestRunRefreshesAtASignal(t *testing.T) {
	t.Parallel()
	s, o := newEnv(t), newOperator(t)
	signals := make(chan os.Signal)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		Run(ctx, o.files(s), signals)
		close(ended)
	}()
	signals <- syscall.SIGHUP // received once the first refresh is done
	o.write(o.issue(o.now))
	signals <- syscall.SIGHUP
	s.Await("serving the new certificate", 1)
	cancel()
	<-ended
}
