package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
)

// Sealer protects the secrets in a file from people who have the file but not the
// sealer's key: endpoint secrets, password hashes, which could be brute-forced,
// and private keys of certificates. Its methods are safe for concurrent use and
// do not retain their arguments.
type Sealer interface {
	// Seal returns plain sealed for a place, as a new value.
	Seal(plain, place []byte) []byte
	// Open returns what was sealed for the place, as a new value, and an error
	// for anything else.
	Open(sealed, place []byte) ([]byte, error)
}

// sealCheck is stored sealed under keySeal in a sealed file, to detect a wrong
// key.
var sealCheck = []byte("teamdata")

var (
	errSealed   = &boltfile.Error{Text: "is sealed", Advice: "give the key file that it was sealed with: --seal-key-file FILE"}
	errOtherKey = &boltfile.Error{Text: "is sealed, and the key file is not the one that it was sealed with", Advice: "give that one: --seal-key-file FILE"}
)

// sealing is how a file stores its secrets: sealed, or in plain text without a
// Sealer. Values that enter or leave the file pass through it; values moved or
// checked inside the file need not be opened.
type sealing struct{ Sealer }

func (s sealing) on() bool { return s.Sealer != nil }

// placeOfValue is the place that a sealed value is bound to, so that it opens
// nowhere else: bucket, 0, key, and for a field of a record 0, field.
func placeOfValue(bucket, key []byte, field string) []byte {
	place := make([]byte, 0, len(bucket)+1+len(key)+1+len(field))
	place = append(append(append(place, bucket...), 0), key...)
	if field != "" {
		place = append(append(place, 0), field...)
	}
	return place
}

func (s sealing) seal(plain, bucket, key []byte, field string) []byte {
	return s.Seal(plain, placeOfValue(bucket, key, field))
}

func (s sealing) open(sealed, bucket, key []byte, field string) ([]byte, error) {
	plain, err := s.Open(sealed, placeOfValue(bucket, key, field))
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w (%w)", bucket, string(key), errRecord, err) // a copy, so that key doesn't escape on each read
	}
	return plain, nil
}

// secretField is a sealed field of a record, by its name in placeOfValue. An
// empty value means none and stays empty.
type secretField struct {
	name string
	text *string
}

// sealFields seals the fields of the record under a key of a bucket.
func (s sealing) sealFields(bucket, key []byte, fields []secretField) {
	for _, field := range fields {
		if s.on() && *field.text != "" {
			*field.text = string(s.seal([]byte(*field.text), bucket, key, field.name))
		}
	}
}

// openFields is the reverse of sealFields.
func (s sealing) openFields(bucket, key []byte, fields []secretField) error {
	for _, field := range fields {
		if !s.on() || *field.text == "" {
			continue
		}
		plain, err := s.open([]byte(*field.text), bucket, key, field.name)
		if err != nil {
			return err
		}
		*field.text = string(plain)
	}
	return nil
}

// check reports whether a file is sealed. A file sealed with another key is an
// error.
func (s sealing) check(db *bbolt.DB) (sealed bool, err error) {
	err = db.View(func(bolt *bbolt.Tx) error {
		meta := bolt.Bucket(bucketMeta)
		if meta == nil { // a new file
			return nil
		}
		entry := meta.Get(keySeal)
		switch sealed = entry != nil; {
		case !sealed:
			return nil
		case !s.on():
			return errSealed
		}
		if plain, err := s.open(entry, bucketMeta, keySeal, ""); err != nil || !bytes.Equal(plain, sealCheck) {
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
		sealed, err = sealing{key}.check(db)
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

// all seals all secrets of a file in plain text and marks it as sealed.
func (s sealing) all(bolt *bbolt.Tx) error {
	if err := endpoints.sealAll(s, bolt); err != nil {
		return err
	}
	if err := accounts.sealAll(s, bolt); err != nil {
		return err
	}
	certificates := bolt.Bucket(bucketCertificates)
	for _, name := range allKeys(certificates) {
		if err := certificates.Put(name, s.sealCertificate(name, certificates.Get(name))); err != nil {
			return err
		}
	}
	return bolt.Bucket(bucketMeta).Put(keySeal, s.seal(sealCheck, bucketMeta, keySeal, ""))
}
