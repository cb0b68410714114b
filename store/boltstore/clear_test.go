package boltstore

import (
	"bytes"
	"errors"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// TestClear: of everything in every bucket, Clear leaves the schema and the
// certificates. What is stored afterwards does not meet what was there before.
func TestClear(t *testing.T) {
	f := newFixture(t, Options{ForTests: true})
	record := store.IdempotencyRecord{OrgID: testOrg, Key: "once"}
	var before, after store.Endpoint
	var sent, again store.Delivery
	use := func(e *store.Endpoint, d *store.Delivery) {
		t.Helper()
		f.update(func(tx store.Tx) (err error) {
			if *e, err = tx.Endpoint(testOrg, "whe_1"); err != nil {
				return err
			}
			if _, err := tx.IdempotencyRecord(testOrg, "once"); !store.IsNotFound(err) {
				t.Errorf("the idempotency key was used before: %v", err)
			}
			if record.FirstUse = tx.Now(); err == nil {
				err = tx.AddIdempotencyRecord(record)
			}
			must(t, err)
			*d, err = store.SendTest(tx, testOrg, "whe_1")
			return err
		})
	}
	use(&before, &sent)
	f.update(func(tx store.Tx) error { return tx.PutCertificate("local-ca", []byte("kept")) })
	f.update(func(u store.Tx) error {
		for _, name := range buckets[1:] {
			must(t, ownTx(u).replace(ownTx(u).bucket(name), []byte("~"), nil, []byte("anything")))
		}
		return nil
	})
	generation, types := f.AccessGeneration(), f.EventTypeGeneration()

	f.update(func(tx store.Tx) error {
		return errors.Join(tx.PutOperatorToken(store.OperatorToken{ID: "opr_1"}), tx.PutOperatorToken(store.OperatorToken{ID: "opr_2"}))
	})
	must(t, f.Clear(bg, "opr_2"))
	f.view(func(tx store.Tx) error {
		left, err := tx.OperatorTokens()
		if len(left) != 1 || left[0].ID != "opr_2" {
			t.Errorf("the operator tokens %v are left", left)
		}
		return err
	})
	must(t, f.Clear(bg, ""))
	must(t, f.viewFile(func(bolt *bbolt.Tx) error {
		return bolt.ForEach(func(name []byte, b *bbolt.Bucket) error {
			if n := records(t, b); n > 0 != (bytes.Equal(name, bucketMeta) || bytes.Equal(name, []byte("certificates"))) {
				t.Errorf("%d records are left in %s", n, name)
			}
			return nil
		})
	}))
	if f.AccessGeneration() == generation || f.EventTypeGeneration() == types {
		t.Error("what was read about keys or event types before still counts")
	}
	if claims, err := f.Claim(bg, before.Number, f.Now(), 9); len(claims.Claims) > 0 || err != nil {
		t.Errorf("%d deliveries are due: %v", len(claims.Claims), err)
	}
	f.fill()
	use(&after, &again)
	if after.Number <= before.Number || again.ID <= sent.ID {
		t.Errorf("after endpoint %d and delivery %s came %d and %s", before.Number, sent.ID, after.Number, again.ID)
	}
	f.update(func(u store.Tx) error { // which is no certificate
		return ownTx(u).delete(ownTx(u).bucket([]byte("certificates")), []byte("~"))
	})
	f.close()
	must(t, Check(f.path, func(fault string) { t.Error(fault) }))
}

// records counts the records of a bucket and those in it.
func records(t *testing.T, b *bbolt.Bucket) (n int) {
	t.Helper()
	must(t, b.ForEach(func(key, value []byte) error {
		if value == nil {
			n += records(t, b.Bucket(key))
		} else {
			n++
		}
		return nil
	}))
	return n
}

// TestClearIsUndone: if its commit fails, everything is there.
func TestClearIsUndone(t *testing.T) {
	var failure error
	f := newFixture(t, Options{ForTests: true, BeforeCommit: func() error { return failure }})
	failure = errors.New("on purpose")
	if err := f.Clear(bg, ""); err == nil {
		t.Error("it is cleared, though nothing can be written")
	}
	failure = nil
	f.view(func(tx store.Tx) error {
		_, err := tx.Endpoint(testOrg, "whe_1")
		return err
	})
}
