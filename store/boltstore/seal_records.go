package boltstore

import (
	"fmt"

	"go.etcd.io/bbolt"

	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// secretField is a field of a record that is sealed, by the name that its place
// has. An empty one stays empty: it says that there is none.
type secretField struct {
	name string
	text *string
}

func secretsOfEndpoint(e *store.Endpoint) []secretField {
	return []secretField{{"secret", &e.Secret}, {"oldSecret", &e.OldSecret}}
}

func secretsOfAccount(a *store.Account) []secretField {
	return []secretField{{"passwordHash", &a.PasswordHash}}
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

// sealRecords seals what the records of a bucket hold in plain text.
func sealRecords[T any](s sealing, bolt *bbolt.Tx, bucket []byte, fields func(*T) func(*codec), secrets func(*T) []secretField) error {
	b := bolt.Bucket(bucket)
	for _, key := range allKeys(b) {
		var record T
		if err := decode(b.Get(key), fields(&record)); err != nil {
			return &boltfile.Error{Text: fmt.Sprintf("can't be sealed, for its record %s %q is damaged", bucket, key), Advice: "put back a backup"}
		}
		s.sealFields(bucket, key, secrets(&record))
		if err := b.Put(key, encode(fields(&record))); err != nil {
			return err
		}
	}
	return nil
}
