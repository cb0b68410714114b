package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
	"teamdata/store/rows"
)

// Sealer protects the secrets in a file, see [rows.Sealer].
type Sealer = rows.Sealer

// sealCheck is stored sealed under keySeal in a sealed file, to detect a wrong
// key.
var sealCheck = []byte("teamdata")

var (
	errSealed   = &boltfile.Error{Text: "is sealed", Advice: "give the key file that it was sealed with: --seal-key-file FILE"}
	errOtherKey = &boltfile.Error{Text: "is sealed, and the key file is not the one that it was sealed with", Advice: "give that one: --seal-key-file FILE"}
)

// checkSeal reports whether a file is sealed. A file sealed with another key is an
// error.
func checkSeal(db *bbolt.DB, s rows.Sealing) (sealed bool, err error) {
	err = db.View(func(bolt *bbolt.Tx) error {
		meta := bolt.Bucket(bucketMeta)
		if meta == nil { // a new file
			return nil
		}
		entry := meta.Get(keySeal)
		switch sealed = entry != nil; {
		case !sealed:
			return nil
		case !s.On():
			return errSealed
		}
		if plain, err := s.OpenValue(entry, bucketMeta, keySeal, ""); err != nil || !bytes.Equal(plain, sealCheck) {
			return errOtherKey
		}
		return nil
	})
	return sealed, err
}

// CheckKey reports whether a data file that no program has open is sealed. A file
// sealed with another key is an error; nil is no key. Unlike Open, it neither
// seals nor migrates the file.
func CheckKey(path string, key Sealer) (sealed bool, err error) {
	err = boltfile.Read(path, func(db *bbolt.DB) (err error) {
		sealed, err = checkSeal(db, rows.Sealing{Sealer: key})
		return err
	})
	return sealed, err
}

// errPlain is for a file with secrets in plain text that is to be sealed.
var errPlain = errors.New("is not sealed")

// sealAndOpen seals a file by replacing it with a sealed copy: overwritten
// secrets would stay readable in the file's free pages. A file of an older schema
// is migrated first.
func sealAndOpen(path string, o Options) (*Store, error) {
	plain := o
	plain.Sealer = nil
	old, err := open(path, plain)
	if err != nil {
		return nil, err
	}
	if err := old.Close(); err != nil {
		return nil, err
	}
	if err := Rebuild(context.Background(), path, o, func(*Store) error { return nil }); err != nil {
		return nil, err
	}
	s, err := open(path, o)
	if err == nil {
		s.sealedNow = true
		s.oldSchema, s.keptOld = old.MigratedFrom()
	}
	return s, err
}

// sealAll seals all secrets of a file in plain text and marks it as sealed.
func sealAll(bolt *bbolt.Tx, s rows.Sealing) error {
	for _, k := range rowKinds {
		if k.Seal == nil {
			continue
		}
		b := bolt.Bucket([]byte(k.Name))
		for _, key := range firstKeys(b, math.MaxInt) {
			value, err := k.Seal(s, key, b.Get(key))
			if err != nil {
				return &boltfile.Error{Text: fmt.Sprintf("can't be sealed, for its record %s %q is damaged", k.Name, key), Advice: "restore a backup"}
			}
			if err := b.Put(key, value); err != nil {
				return err
			}
		}
	}
	return bolt.Bucket(bucketMeta).Put(keySeal, s.SealValue(sealCheck, bucketMeta, keySeal, ""))
}
