package certificates

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"sync"
	"testing"

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
	s := newEnv(t).store
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

// TestOneACMEAccount: they end with one account key, too.
func TestOneACMEAccount(t *testing.T) {
	var mu sync.Mutex
	var keys []*ecdsa.PrivateKey
	together(t, func(s store.Store) error {
		a, err := NewACME(t.Context(), s, ACMEConfig{Directory: "https://acme.test/dir"})
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			keys = append(keys, a.account.(*ecdsa.PrivateKey))
		}
		return err
	})
	if len(keys) == 2 && !keys[0].Equal(keys[1]) {
		t.Error("there are two accounts")
	}
}
