package rows

import (
	"bytes"
	"fmt"
)

// Sealer protects the secrets in a store from people who have its data but not the
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

// Sealing is how a store keeps its secrets: sealed, or in plain text without a
// Sealer. Values that enter or leave the store pass through it; values moved or
// checked inside the store need not be opened.
type Sealing struct{ Sealer }

// On reports whether secrets are sealed.
func (s Sealing) On() bool { return s.Sealer != nil }

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

// SealValue seals the value under a key of a bucket, or a field of it. Without a Sealer it
// stays as it is.
func (s Sealing) SealValue(plain, bucket, key []byte, field string) []byte {
	if !s.On() {
		return bytes.Clone(plain)
	}
	return s.Seal(plain, placeOfValue(bucket, key, field))
}

// OpenValue is the reverse of SealValue. ErrRecord: it was not sealed with this key
// for this place.
func (s Sealing) OpenValue(sealed, bucket, key []byte, field string) ([]byte, error) {
	if !s.On() {
		return bytes.Clone(sealed), nil
	}
	plain, err := s.Open(sealed, placeOfValue(bucket, key, field))
	if err != nil {
		return nil, fmt.Errorf("%s %q: %w (%w)", bucket, string(key), ErrRecord, err) // a copy, so that key doesn't escape on each read
	}
	return plain, nil
}

// Secret is a sealed field of a record, by its name in placeOfValue. An
// empty value means none and stays empty.
type Secret struct {
	Name string
	Text *string
}

// SealFields seals the fields of the record under a key of a bucket.
func (s Sealing) SealFields(bucket, key []byte, fields []Secret) {
	for _, field := range fields {
		if *field.Text != "" {
			*field.Text = string(s.SealValue([]byte(*field.Text), bucket, key, field.Name))
		}
	}
}

// OpenFields is the reverse of SealFields.
func (s Sealing) OpenFields(bucket, key []byte, fields []Secret) error {
	for _, field := range fields {
		if !s.On() || *field.Text == "" {
			continue
		}
		plain, err := s.OpenValue([]byte(*field.Text), bucket, key, field.Name)
		if err != nil {
			return err
		}
		*field.Text = string(plain)
	}
	return nil
}
