package boltstore

import (
	"bytes"
	"encoding/binary"

	"teamdata/store"
	"teamdata/store/codec"
	"teamdata/store/rows"
)

var endpoints = table[store.Endpoint]{bucket: bucketEndpoints, noun: "webhook endpoint", fields: codec.Endpoint, secrets: codec.SecretsOfEndpoint}

func (t *tx) HTTPOnLoopback() bool { return t.s.tests }

// Endpoint is what every event and every outcome reads, often of the same one.
func (t *tx) Endpoint(orgID, id string) (store.Endpoint, error) {
	key := orgKey(orgID, id)
	if !t.bolt.Writable() {
		return endpoints.get(t, key)
	}
	record, last := t.readBucket(bucketEndpoints).Get(key), &t.s.endpoint
	if record != nil && last.ID == id && last.OrgID == orgID && string(record) == last.record {
		return last.Endpoint, nil
	}
	e, err := endpoints.get(t, key)
	if err == nil {
		*last = readEndpoint{string(record), e}
	}
	return e, err
}

// readEndpoint is an endpoint with the record that it was read from.
type readEndpoint struct {
	record string
	store.Endpoint
}

func (t *tx) Endpoints(orgID string) (list []store.Endpoint, err error) {
	prefix := orgKey(orgID, "")
	c := t.bolt.Bucket(bucketEndpoints).Cursor()
	for key, record := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, record = c.Next() {
		e, err := rows.Decode(record, codec.Endpoint)
		if err != nil {
			return nil, storageFault(err)
		}
		if e, err = endpoints.open(t, key, e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}

func (t *tx) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	number, err := t.bucket(bucketEndpoints).NextSequence()
	if err != nil {
		return store.Endpoint{}, storageFault(err)
	}
	e.Number = number
	if err := t.put(t.bucket(bucketEndpointNumbers), numberKey(number), orgKey(e.OrgID, e.ID)); err != nil {
		return store.Endpoint{}, err
	}
	return e, endpoints.put(t, orgKey(e.OrgID, e.ID), e)
}

func (t *tx) PutEndpoint(e store.Endpoint) error {
	if err := endpoints.put(t, orgKey(e.OrgID, e.ID), e); err != nil {
		return err
	}
	if first, ok := t.firstDue(e.Number); ok && !e.Disabled() {
		t.Due(first.endpoint, first.at)
	}
	return nil
}

func (t *tx) DeleteEndpoint(e store.Endpoint) error {
	if err := endpoints.delete(t, orgKey(e.OrgID, e.ID)); err != nil {
		return err
	}
	if err := t.delete(t.bucket(bucketEndpointNumbers), numberKey(e.Number)); err != nil {
		return err
	}
	return t.insert(t.bucket(bucketRemovedEndpoints), numberKey(e.Number), []byte{})
}

func (t *tx) RemovedEndpoints(limit int) (numbers []uint64, err error) {
	for _, key := range firstKeys(t.bolt.Bucket(bucketRemovedEndpoints), nil, limit) {
		numbers = append(numbers, binary.BigEndian.Uint64(key))
	}
	return numbers, nil
}

func (t *tx) ForgetEndpoint(number uint64) error {
	if err := t.delete(t.bucket(bucketRemovedEndpoints), numberKey(number)); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketLastAcknowledged), numberKey(number))
}

func (t *tx) endpointByNumber(number uint64) (store.Endpoint, error) {
	return endpoints.get(t, t.bolt.Bucket(bucketEndpointNumbers).Get(numberKey(number)))
}

// sealedEndpoint is for callers that need no secret, so that one secret that
// can't be opened doesn't block them from the other endpoints.
func (t *tx) sealedEndpoint(number uint64) (store.Endpoint, error) {
	return endpoints.sealed(t, t.bolt.Bucket(bucketEndpointNumbers).Get(numberKey(number)))
}

// endpoints checks that each endpoint and its number refer to each other, and
// that no number is both in use and removed.
func (c *checker) endpoints() {
	n := endpoints.check(c, func(key []byte, e *store.Endpoint) {
		if named := c.get(bucketEndpointNumbers, numberKey(e.Number)); !bytes.Equal(named, key) {
			c.fault("endpoints %q: its number %d names %q", key, e.Number, named)
		}
	})
	c.sameCount(bucketEndpointNumbers, "numbers", n, "endpoints")
	c.each(bucketRemovedEndpoints, func(number, _ []byte) {
		switch {
		case len(number) != 8:
			c.fault("removedEndpoints %q: is not a number", number)
		case c.get(bucketEndpointNumbers, number) != nil:
			c.fault("removedEndpoints %q: there is an endpoint of that number", number)
		}
	})
}

// isEndpoint reports whether a number is of an endpoint, or of a removed one that
// is not yet forgotten.
func (c *checker) isEndpoint(number []byte) bool {
	return c.get(bucketEndpointNumbers, number) != nil || c.get(bucketRemovedEndpoints, number) != nil
}
