package pgstore_test

import (
	"errors"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
)

// TestClear: only certificates and the given operator token stay, and numbers of endpoints are not given again.
func TestClear(t *testing.T) {
	s := open(t, postgres.New(t), pgstore.Options{ForTests: true})
	defer s.Close()
	kit.Must(t, s.Update(bg, store.All, putSecrets))
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
		return errors.Join(tx.PutOperatorToken(store.OperatorToken{ID: "opr_1"}), tx.PutOperatorToken(store.OperatorToken{ID: "opr_2"}))
	}))
	before := s.AccessGeneration()
	kit.Must(t, s.Clear(bg, "opr_2"))
	if s.AccessGeneration() == before {
		t.Error("the AccessGeneration is the same")
	}
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
		any, err := tx.AnyOrg()
		left, errLeft := tx.OperatorTokens()
		if len(left) != 1 || left[0].ID != "opr_2" {
			t.Errorf("the operator tokens %v are left", left)
		}
		_, errPEM := tx.Certificate("ca")
		if any {
			t.Error("there is an org")
		}
		return errors.Join(err, errLeft, errPEM, putSecrets(tx))
	}))
	kit.Must(t, s.View(bg, func(tx store.Tx) error {
		e, err := tx.Endpoint("org_1", "whe_1")
		if e.Number != 2 {
			t.Errorf("the endpoint has the number %d", e.Number)
		}
		return err
	}))
}

// TestReadersDoNotDelayTheWriter has Views keep all connections that Views have.
func TestReadersDoNotDelayTheWriter(t *testing.T) {
	s := open(t, pgstore.WithTables(t), pgstore.Options{})
	defer s.Close()
	behind := func() error { return s.Update(bg, store.All, putSecrets) }
	for range pgstore.ReaderConnections {
		inner := behind
		behind = func() error {
			return s.View(bg, func(tx store.Tx) error {
				if _, err := tx.AnyOrg(); err != nil {
					return err
				}
				return inner()
			})
		}
	}
	kit.Must(t, behind())
}
