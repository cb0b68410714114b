package boltstore

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
	"teamdata/store/seal"
)

// newKey is the key whose bytes are all the same, in hex.
func newKey(t testing.TB, hex string) *seal.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "seal.key")
	writeFile(t, path, []byte(strings.Repeat(hex, seal.KeySize)))
	key, err := seal.ReadKeyFile(path)
	must(t, err)
	return key
}

func sealed(t testing.TB) Options { return Options{Sealer: newKey(t, "4f")} }

// secrets are what the tests below write, and what a sealed file may not show.
var secrets = []string{
	"whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
	"whsec_YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXphYmNkZWY=",
	"whsec_enl4d3Z1dHNycXBvbm1sa2ppaGdmZWRjYmFaWVhXVlU=",
	"-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n",
	"$argon2id$v=19$m=19456,t=2,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA",
}

// addSecrets adds the endpoints whe_a, with an old secret, and whe_b, the
// certificates ca and leaf, and the accounts of usr_ada, with a password, and
// usr_bob.
func (f *fixture) addSecrets() {
	f.Helper()
	f.update(func(tx store.Tx) error {
		for id, secret := range map[string]string{"whe_a": secrets[0], "whe_b": secrets[1]} {
			_, err := store.ImportEndpoint(tx, store.Endpoint{
				ID: id, OrgID: testOrg, URL: "https://receiver.example/" + id, Events: store.BuiltInEventTypes, Secret: secret,
			})
			if err != nil {
				return err
			}
		}
		for _, user := range []string{"usr_ada", "usr_bob"} {
			if _, err := store.ImportMember(tx, store.Member{OrgID: testOrg, UserID: user, Role: store.RoleOwner}); err != nil {
				return err
			}
		}
		return errors.Join(tx.PutAccount(store.Account{UserID: "usr_ada", PasswordHash: secrets[4]}), tx.PutAccount(store.Account{UserID: "usr_bob"}),
			tx.PutCertificate("ca", []byte(secrets[3])), tx.PutCertificate("leaf", []byte("leaf "+secrets[3])))
	})
	f.update(func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, "", testOrg, "whe_a", secrets[2], time.Hour)
		return err
	})
}

// hasSecrets finds what addSecrets has added.
func (f *fixture) hasSecrets() {
	f.Helper()
	f.view(func(tx store.Tx) error {
		a, aErr := tx.Endpoint(testOrg, "whe_a")
		b, bErr := tx.Endpoint(testOrg, "whe_b")
		ca, caErr := tx.Certificate("ca")
		leaf, leafErr := tx.Certificate("leaf")
		if a.Secret != secrets[2] || a.OldSecret != secrets[0] || b.Secret != secrets[1] || b.OldSecret != "" {
			f.Errorf("the endpoints' secrets are %q, %q, %q, %q", a.Secret, a.OldSecret, b.Secret, b.OldSecret)
		}
		if string(ca) != secrets[3] || string(leaf) != "leaf "+secrets[3] {
			f.Errorf("the certificates are %q, %q", ca, leaf)
		}
		ada, adaErr := tx.Account("usr_ada")
		if bob, err := tx.Account("usr_bob"); ada.PasswordHash != secrets[4] || bob.PasswordHash != "" || errors.Join(adaErr, err) != nil {
			f.Errorf("the hashes of passwords are %q, %q", ada.PasswordHash, bob.PasswordHash)
		}
		list, err := tx.Endpoints(testOrg)
		if len(list) != 3 || list[1].Secret != a.Secret || list[2].Secret != b.Secret {
			f.Errorf("listed are %+v", list)
		}
		return errors.Join(aErr, bErr, caErr, leafErr, err)
	})
}

// shows is how many of the secrets show in some bytes.
func shows(content []byte) (n int) {
	for _, secret := range append(secrets[:3:3], "PRIVATE KEY", "whsec_", "$argon2id$") {
		if bytes.Contains(content, []byte(secret)) {
			n++
		}
	}
	return n
}

func TestSealedFromTheStart(t *testing.T) {
	for _, empty := range []bool{false, true} {
		f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
		if empty {
			writeFile(t, f.path, nil)
		}
		f.open(sealed(t))
		if !f.SealedNow() {
			t.Error("it does not tell that it has sealed a new file")
		}
		f.fill()
		f.addSecrets()
		f.hasSecrets()
		f.close()
		before := readFile(t, f.path)
		if n := shows(before); n > 0 {
			t.Errorf("%d secrets show in the file", n)
		}
		wellKept(t, f.path) // without the key

		f.open(sealed(t))
		f.hasSecrets()
		if f.SealedNow() {
			t.Error("it tells that it has sealed a sealed file")
		}
		f.close()
		if !bytes.Equal(before, readFile(t, f.path)) {
			t.Error("opening and closing has changed the file")
		}
	}
}

func TestSealedRefusals(t *testing.T) {
	f := newFixture(t, sealed(t))
	f.addSecrets()
	f.close()
	backup := filepath.Join(t.TempDir(), "backup.db")
	writeFile(t, backup, readFile(t, f.path))
	for _, path := range []string{f.path, backup} {
		refuses(t, path, "is sealed", "give the key file", "--seal-key-file")
		refusesWith(t, path, Options{Sealer: newKey(t, "4e")}, "is sealed", "not the one that it was sealed with", "--seal-key-file")
	}
	f.open(sealed(t))
	must(t, f.db.Update(func(bolt *bbolt.Tx) error { return bolt.Bucket(bucketMeta).Put(keySeal, nil) }))
	f.close()
	refuses(t, f.path, "is sealed")
	refusesWith(t, f.path, sealed(t), "not the one that it was sealed with")
}

func TestSealAnExistingFile(t *testing.T) {
	f := newFixture(t, Options{})
	f.addSecrets()
	f.hasSecrets()
	if f.SealedNow() {
		t.Error("it tells that it has sealed a file without a key")
	}
	f.close()
	if n := shows(readFile(t, f.path)); n != 6 {
		t.Fatalf("%d secrets show in the file, so the tests here can't fail", n)
	}
	f.open(sealed(t))
	if !f.SealedNow() {
		t.Error("it does not tell that it has sealed the file")
	}
	f.hasSecrets()
	if n := shows([]byte(f.dump())); n > 0 {
		t.Errorf("%d secrets show in the records", n)
	}
	f.close()
	if n := shows(readFile(t, f.path)); n > 0 {
		t.Errorf("%d secrets show in the file", n)
	}
	wellKept(t, f.path)
	refuses(t, f.path, "is sealed")
	f.open(sealed(t))
	f.hasSecrets()
	f.showsNothingOnceCompacted()
}

// TestSealByRebuild: an import that seals leaves no secrets in free pages either.
func TestSealByRebuild(t *testing.T) {
	f := newFixture(t, Options{})
	f.addSecrets()
	f.close()
	must(t, Rebuild(bg, f.path, sealed(t), func(*Store) error { return nil }))
	if n := shows(readFile(t, f.path)); n > 0 {
		t.Errorf("%d secrets show in the file", n)
	}
	f.open(sealed(t))
	f.hasSecrets()
}

// showsNothingOnceCompacted: pages that became free have gone with the rest.
func (f *fixture) showsNothingOnceCompacted() {
	f.Helper()
	path := filepath.Join(f.TempDir(), "compacted.db")
	db, err := bbolt.Open(path, boltfile.Mode, nil)
	must(f, err)
	must(f, bbolt.Compact(db, f.db, 0))
	must(f, db.Close())
	if n := shows(readFile(f, path)); n > 0 {
		f.Errorf("%d secrets show in the compacted file", n)
	}
	f.close()
	f.path = path
	f.open(sealed(f))
	f.hasSecrets()
}

// TestSealDamagedFile: what can't be read can't be sealed, and stays.
func TestSealDamagedFile(t *testing.T) {
	f := newFixture(t, Options{})
	f.addSecrets()
	must(t, f.db.Update(func(bolt *bbolt.Tx) error {
		return bolt.Bucket([]byte("endpoints")).Put(orgKey(testOrg, "whe_b"), []byte{0xff})
	}))
	f.close()
	refusesWith(t, f.path, sealed(t), "can't be sealed", `endpoints "org_test\x00whe_b"`, "backup")
}
