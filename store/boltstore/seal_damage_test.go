package boltstore

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/rows"
)

// behindItsBack changes the file beside the writer. A commit of the writer makes Views
// see it.
func (f *fixture) behindItsBack(fn func(*bbolt.Tx) error) {
	f.Helper()
	must(f, f.db.Update(fn))
	must(f, f.Probe(bg))
}

// changeRecord changes a stored endpoint behind the store's back.
func (f *fixture) changeRecord(id string, change func(*store.Endpoint)) {
	f.Helper()
	f.behindItsBack(func(bolt *bbolt.Tx) error {
		key := orgKey(testOrg, id)
		e := recordIn[store.Endpoint](f, bolt, "endpoints", string(key))
		change(e)
		return bolt.Bucket([]byte("endpoints")).Put(key, rowsOf("endpoints").encode(e))
	})
}

// record is what the file holds of an endpoint.
func (f *fixture) record(id string) (e store.Endpoint) {
	f.Helper()
	f.changeRecord(id, func(found *store.Endpoint) { e = *found })
	return e
}

// isDamage holds an error to a fault of the storage that names the place.
func isDamage(t *testing.T, what string, err error, place string) {
	t.Helper()
	if store.CodeOf(err) != store.CodeUnavailable || !errors.Is(err, rows.ErrRecord) {
		t.Errorf("%s: %v", what, err)
		return
	}
	saysOneLine(t, err.Error(), place, "a record in the data file is damaged", "backup")
}

// TestMovedSecrets: a sealed value opens in its own place alone.
func TestMovedSecrets(t *testing.T) {
	a, b := func(f *fixture) string { return f.record("whe_a").Secret }, func(f *fixture) string { return f.record("whe_b").Secret }
	for name, move := range map[string]func(f *fixture){
		"two endpoints' secrets swapped": func(f *fixture) {
			secretA, secretB := a(f), b(f)
			f.changeRecord("whe_a", func(e *store.Endpoint) { e.Secret = secretB })
			f.changeRecord("whe_b", func(e *store.Endpoint) { e.Secret = secretA })
		},
		"an endpoint's two secrets swapped": func(f *fixture) {
			f.changeRecord("whe_a", func(e *store.Endpoint) { e.Secret, e.OldSecret = e.OldSecret, e.Secret })
		},
		"a secret as the old one": func(f *fixture) {
			f.changeRecord("whe_a", func(e *store.Endpoint) { e.OldSecret = e.Secret })
		},
		"a secret in plain text": func(f *fixture) {
			f.changeRecord("whe_a", func(e *store.Endpoint) { e.Secret = secrets[0] })
		},
		"another endpoint's record": func(f *fixture) {
			other := f.record("whe_b")
			f.changeRecord("whe_a", func(e *store.Endpoint) { *e = other })
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, sealed(t))
			f.addSecrets()
			f.hasSecrets()
			move(f)
			err := f.View(bg, func(tx store.Tx) error {
				_, err := tx.Endpoint(testOrg, "whe_a")
				return err
			})
			isDamage(t, "endpoint", err, `endpoints "org_test\x00whe_a"`)
		})
	}
}

func TestMovedCertificates(t *testing.T) {
	f := newFixture(t, sealed(t))
	f.addSecrets()
	f.behindItsBack(func(bolt *bbolt.Tx) error {
		b := bolt.Bucket([]byte("certificates"))
		return b.Put([]byte("leaf"), bytes.Clone(b.Get([]byte("ca"))))
	})
	for name, damaged := range map[string]bool{"ca": false, "leaf": true} {
		err := f.View(bg, func(tx store.Tx) error {
			_, err := tx.Certificate(name)
			return err
		})
		if damaged {
			isDamage(t, name, err, `certificates "leaf"`)
		} else if err != nil {
			t.Error(err)
		}
	}
}

// TestMovedPassword: nobody signs in with the password of another.
func TestMovedPassword(t *testing.T) {
	f := newFixture(t, sealed(t))
	f.addSecrets()
	f.behindItsBack(func(bolt *bbolt.Tx) error {
		a := recordIn[store.Account](t, bolt, "accounts", "usr_ada")
		a.UserID = "usr_bob"
		return bolt.Bucket([]byte("accounts")).Put([]byte("usr_bob"), rowsOf("accounts").encode(a))
	})
	f.view(func(tx store.Tx) error {
		_, err := tx.Account("usr_bob")
		isDamage(t, "another's password", err, `accounts "usr_bob"`)
		_, err = tx.Account("usr_ada")
		return err
	})
}

// TestDamagedSecret: an endpoint whose secret does not open sends nothing, and
// the others go on.
func TestDamagedSecret(t *testing.T) {
	for name, damage := range map[string]func(string) string{
		"a bit": func(s string) string { return s[:30] + string(s[30]^1) + s[31:] },
		"cut":   func(s string) string { return s[:20] },
		"text":  func(string) string { return "whsec_" },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, sealed(t))
			f.addSecrets()
			f.update(func(tx store.Tx) error {
				_, a := store.SendTest(tx, testOrg, "whe_a")
				_, b := store.SendTest(tx, testOrg, "whe_b")
				return errors.Join(a, b)
			})
			whole := f.record("whe_a")
			f.changeRecord("whe_a", func(e *store.Endpoint) { e.Secret = damage(e.Secret) })
			if due := f.endpointsDue(); due != 2 {
				t.Errorf("%d endpoints have something due, not 2", due)
			}
			_, err := f.Claim(bg, whole.Number, f.Now(), 10)
			isDamage(t, "claim", err, `endpoints "org_test\x00whe_a"`)
			f.claims1(f.record("whe_b").Number, secrets[1])

			f.changeRecord("whe_a", func(e *store.Endpoint) { *e = whole })
			f.claims1(whole.Number, secrets[2]) // what failed has claimed nothing
		})
	}
}

func (f *fixture) endpointsDue() (n int) {
	f.Helper()
	must(f, f.EachDue(bg, func(uint64, time.Time) { n++ }))
	return n
}

// claims1 claims the one delivery that an endpoint has, to sign with a secret.
func (f *fixture) claims1(endpoint uint64, secret string) {
	f.Helper()
	claims, err := f.Claim(bg, endpoint, f.Now(), 10)
	if err != nil || len(claims.Claims) != 1 || claims.Endpoint.Secret != secret {
		f.Errorf("claimed %+v, %v", claims, err)
	}
}
