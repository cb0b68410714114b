package pgstore_test

import (
	"errors"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/pgstore"
	"teamdata/store/rows"
	"teamdata/store/seal"
)

func sealer(t *testing.T, digit string) rows.Sealer {
	t.Helper()
	file := kit.NewFile(t, "seal.key", strings.Repeat(digit, 2*seal.KeySize))
	key, err := seal.ReadKeyFile(file)
	kit.Must(t, err)
	return key
}

const secret1 = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

func putSecrets(tx store.Tx) error {
	_, errOrg := store.ImportOrg(tx, store.Org{ID: "org_1", Name: "One"})
	_, err := store.ImportEndpoint(tx, store.Endpoint{
		OrgID: "org_1", ID: "whe_1", URL: "https://receiver.example/hook", Events: []string{store.AllEvents}, Secret: secret1,
	})
	return errors.Join(errOrg, err, tx.PutCertificate("ca", []byte("a private key")),
		tx.PutAccount(store.Account{UserID: "usr_1", PasswordHash: "a password's hash"}))
}

func hasSecrets(tx store.Tx) error {
	e, err := tx.Endpoint("org_1", "whe_1")
	pem, errPEM := tx.Certificate("ca")
	a, errAccount := tx.Account("usr_1")
	if e.Secret != secret1 || string(pem) != "a private key" || a.PasswordHash != "a password's hash" {
		err = errors.Join(err, errors.New("a secret is another"))
	}
	return errors.Join(err, errPEM, errAccount)
}

// TestSeal seals a database in plain text, which from then on opens with its key alone.
func TestSeal(t *testing.T) {
	t.Parallel()
	database := postgres.New(t)
	plaintext := func() bool {
		rows := postgres.Exec(t, database, `SELECT encode(string_agg(r, ''::bytea), 'escape') FROM (SELECT value AS r FROM endpoints
			UNION ALL SELECT value FROM accounts UNION ALL SELECT value FROM certificates) r`)
		found := rows[0][0]
		return strings.Contains(found, "whsec_") || strings.Contains(found, "password") || strings.Contains(found, "private")
	}
	target, err := pgstore.ParseTarget(database)
	kit.Must(t, err)
	if _, err := pgstore.CheckKey(bg, target, nil); err == nil || !strings.Contains(err.Error(), "is empty") {
		t.Errorf("the key of nothing: %v", err)
	}
	s := open(t, database, pgstore.Options{})
	kit.Must(t, s.Update(bg, store.All, putSecrets))
	kit.Must(t, s.Close())
	if sealed, err := pgstore.CheckKey(bg, target, sealer(t, "4")); err != nil || sealed {
		t.Errorf("the key of what is not sealed yet: %v, %v", sealed, err)
	}
	if !plaintext() {
		t.Error("the test finds no secret in plain text")
	}
	key := sealer(t, "4")
	for i := range 2 {
		s = open(t, database, pgstore.Options{Sealer: key})
		if sealed := s.SealedNow(); sealed != (i == 0) {
			t.Errorf("opened %d times, it was sealed now: %v", i+1, sealed)
		}
		kit.Must(t, s.View(bg, hasSecrets))
		kit.Must(t, s.Close())
	}
	if plaintext() {
		t.Error("a secret is in plain text")
	}
	if sealed, err := pgstore.CheckKey(bg, target, key); err != nil || !sealed {
		t.Errorf("its key: %v, %v", sealed, err)
	}
	for _, c := range []struct {
		sealer rows.Sealer
		want   string
	}{{nil, "is sealed; give the key file"}, {sealer(t, "5"), "is not the one that it was sealed with"}} {
		if _, err := pgstore.CheckKey(bg, target, c.sealer); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("another key: %v", err)
		}
		if _, err := pgstore.Open(bg, target, pgstore.Options{Sealer: c.sealer}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("opened with another key: %v", err)
		}
	}
}
