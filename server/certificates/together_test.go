package certificates

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/localca"
	"teamdata/store"
)

// metStore is a store in which each server has looked for what is there before one
// writes.
type metStore struct {
	store.Store
	looked func()
}

func (s metStore) View(ctx context.Context, fn func(store.Tx) error) error {
	err := s.Store.View(ctx, fn)
	s.looked()
	return err
}

// together starts something on one store as two servers do that start at the same
// time.
func together(t *testing.T, start func(s store.Store) error) {
	t.Helper()
	s := newEnv(t).Store
	var looked, started sync.WaitGroup
	looked.Add(2)
	for range 2 {
		started.Go(func() {
			once := sync.OnceFunc(func() {
				looked.Done()
				looked.Wait()
			})
			if err := start(metStore{s, once}); err != nil {
				t.Error(err)
			}
		})
	}
	started.Wait()
}

// TestOneLocalCA: two servers that start together on one store end with one authority,
// and each has a certificate of it.
func TestOneLocalCA(t *testing.T) {
	var mu sync.Mutex
	var both []*localCertificates
	together(t, func(s store.Store) error {
		l, err := NewLocal(t.Context(), s, LocalConfig{Hosts: []string{"box.example"}})
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			both = append(both, l.served.Load())
		}
		return err
	})
	if len(both) == 2 && !bytes.Equal(both[0].cas.PEM(), both[1].cas.PEM()) {
		t.Error("there are two authorities")
	}
	if len(both) == 2 && !bytes.Equal(both[0].leaf.Certificate[0], both[1].leaf.Certificate[0]) {
		t.Error("the second certificate was not needed")
	}
}

// TestLocalOfNodes: nodes of different machines serve certificates for their own names,
// all of one authority, while years pass and now and then one is started again.
func TestLocalOfNodes(t *testing.T) {
	s := newEnv(t)
	now := time.Now()
	machines := []string{"one.example", "two.example"}
	trusted := make([][]byte, len(machines))
	start := func(i int) *Local {
		return s.local(LocalConfig{
			Hosts: localca.LocalHosts(machines[i]), Now: func() time.Time { return now },
			Trusted: func(pem []byte) error { trusted[i] = pem; return nil },
		})
	}
	nodes := []*Local{start(0), start(1)}
	for month := range 12 * 12 {
		if i := month % 5; i < len(nodes) {
			nodes[i] = start(i)
		}
		for _, n := range nodes {
			n.Refresh(t.Context())
		}
		if !bytes.Equal(trusted[0], trusted[1]) {
			t.Fatalf("month %d: the nodes have different authorities", month)
		}
		roots := x509.NewCertPool()
		roots.AppendCertsFromPEM(trusted[0])
		for i, n := range nodes {
			if _, err := leafOf(t, n).Verify(x509.VerifyOptions{Roots: roots, CurrentTime: now, DNSName: machines[i]}); err != nil {
				t.Fatalf("month %d: %v", month, err)
			}
		}
		now = now.Add(30 * day)
	}
}

// TestOneACMEAccount: they end with one account key, too.
func TestOneACMEAccount(t *testing.T) {
	var mu sync.Mutex
	var keys []*ecdsa.PrivateKey
	together(t, func(s store.Store) error {
		a, err := NewACME(t.Context(), s, ACMEConfig{Directories: []string{"https://acme.test/dir"}})
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, a.authorities[0].account.(*ecdsa.PrivateKey))
		}
		return err
	})
	if len(keys) == 2 && !keys[0].Equal(keys[1]) {
		t.Error("there are two accounts")
	}
}

// elsewhere is a store of which another node holds everything.
type elsewhere struct{ store.Store }

func (elsewhere) Hold(context.Context, string, func(context.Context) error) (bool, error) {
	return false, nil
}

// TestIssuedElsewhere: while another node gets a certificate nobody is called; what it
// got is served.
func TestIssuedElsewhere(t *testing.T) {
	s := newEnv(t)
	a, err := NewACME(t.Context(), elsewhere{s.Store}, ACMEConfig{Domains: []string{domainOfTests}, Directories: []string{"https://127.0.0.1:1/dir"}, Log: s.Logger()})
	kit.Must(t, err)
	a.Refresh(t.Context())
	a.Wait()
	if status := a.Status()[0]; !status.NotAfter.IsZero() || status.LastError != "" {
		t.Errorf("meanwhile: %+v", status)
	}
	ca, err := localca.NewCA(time.Now(), "")
	kit.Must(t, err)
	text, err := ca.Issue(time.Now(), []string{domainOfTests})
	kit.Must(t, err)
	if err := a.domains[0].keep(t.Context(), a.authorities[0], text); err != nil { // as the other node does
		t.Fatal(err)
	}
	a.domains[0].serve(nil, nil)
	a.Refresh(t.Context())
	a.Wait()
	if status := a.Status()[0]; status.NotAfter.IsZero() || status.LastError != "" {
		t.Errorf("after it: %+v", status)
	}
}
