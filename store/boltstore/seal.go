package boltstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"teamdata/store/boltstore/boltfile"
)

// Sealer keeps the secrets of a file from people who have the file but not the
// sealer's key: those of endpoints, the hashes of passwords, which could be
// guessed, and the private keys of certificates. Its methods are safe for
// concurrent use, and keep nothing of what they are given.
type Sealer interface {
	// Seal returns plain, sealed for a place: a new value.
	Seal(plain, place []byte) []byte
	// Open returns, as a new value, what was sealed for the place; an error for
	// anything else.
	Open(sealed, place []byte) ([]byte, error)
}

// sealCheck is what a sealed file holds, sealed, under keySeal, so that a wrong key is
// noticed.
var sealCheck = []byte("teamdata")

var (
	errSealed   = &boltfile.Error{Text: "is sealed", Advice: "give the key file that it was sealed with: --seal-key-file FILE"}
	errOtherKey = &boltfile.Error{Text: "is sealed, and the key file is not the one that it was sealed with", Advice: "give that one: --seal-key-file FILE"}
)

// sealing is how a file keeps its secrets: sealed, or in plain text when there
// is no Sealer. What is read from outside the file passes through it; what is
// only moved inside the file, or checked, need not be opened.
type sealing struct{ Sealer }

func (s sealing) on() bool { return s.Sealer != nil }

// placeOfValue is what a sealed value is bound to, so that it opens nowhere
// else: bucket, 0, key, and for a field of a record 0, field.
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
		return nil, fmt.Errorf("%s %q: %w (%w)", bucket, string(key), errRecord, err) // a copy, or each key of each read is one
	}
	return plain, nil
}

// secretField is a field of a record that is sealed, by the name that its place
// has. An empty one stays empty: it says that there is none.
type secretField struct {
	name string
	text *string
}

// sealFields makes fields what the record under a key of a bucket holds.
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

// check reports whether a file is sealed. It refuses one that is, unless the key
// is the one that it was sealed with.
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

// CheckKey reports whether a data file that no program has open is sealed. It refuses
// one that is, unless the key is the one that it was sealed with; nil is no key. It
// changes nothing, where Open would seal the file or bring it up to date.
func CheckKey(path string, key Sealer) (sealed bool, err error) {
	err = boltfile.Read(path, func(db *bbolt.DB) (err error) {
		sealed, err = sealing{key}.check(db)
		return err
	})
	return sealed, err
}

// errPlain is of a file that holds secrets in plain text, and is to be sealed.
var errPlain = errors.New("is not sealed")

// sealAndOpen seals a file by a copy that takes its place: secrets that were
// overwritten in the file itself would stay readable in its free pages. A file of an
// older schema is migrated first.
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

// all seals what a file holds in plain text, and marks it as sealed.
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
