package boltstore

import (
	"bytes"
	"encoding/binary"

	"teamdata/store"
)

func (t *tx) Endpoint(orgID, id string) (e store.Endpoint, err error) {
	key := orgKey(orgID, id)
	if err := t.get(bucketEndpoints, key, "webhook endpoint", endpointFields(&e)); err != nil {
		return e, err
	}
	return e, storageFault(t.s.seal.openFields(bucketEndpoints, key, secretsOfEndpoint(&e)))
}

func (t *tx) Endpoints(orgID string) ([]store.Endpoint, error) {
	var list []store.Endpoint
	prefix := orgKey(orgID, "")
	c := t.bolt.Bucket(bucketEndpoints).Cursor()
	for key, record := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, record = c.Next() {
		var e store.Endpoint
		if err := decode(record, endpointFields(&e)); err != nil {
			return nil, storageFault(err)
		}
		if err := t.s.seal.openFields(bucketEndpoints, key, secretsOfEndpoint(&e)); err != nil {
			return nil, storageFault(err)
		}
		list = append(list, e)
	}
	return list, nil
}

func (t *tx) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	b := t.bucket(bucketEndpoints)
	number, err := b.NextSequence()
	if err != nil {
		return store.Endpoint{}, storageFault(err)
	}
	e.Number = number
	if err := t.put(t.bucket(bucketEndpointNumbers), numberKey(number), orgKey(e.OrgID, e.ID)); err != nil {
		return store.Endpoint{}, err
	}
	return e, t.putEndpoint(e)
}

func (t *tx) PutEndpoint(e store.Endpoint) error {
	if err := t.putEndpoint(e); err != nil {
		return err
	}
	if first, ok := t.firstDue(e.Number); ok && !e.Disabled() {
		t.due = append(t.due, first)
	}
	return nil
}

func (t *tx) putEndpoint(e store.Endpoint) error {
	key := orgKey(e.OrgID, e.ID)
	t.s.seal.sealFields(bucketEndpoints, key, secretsOfEndpoint(&e))
	return t.put(t.bucket(bucketEndpoints), key, encode(endpointFields(&e)))
}

func (t *tx) DeleteEndpoint(e store.Endpoint) error {
	if err := t.delete(t.bucket(bucketEndpoints), orgKey(e.OrgID, e.ID)); err != nil {
		return err
	}
	if err := t.delete(t.bucket(bucketEndpointNumbers), numberKey(e.Number)); err != nil {
		return err
	}
	return t.insert(t.bucket(bucketRemovedEndpoints), numberKey(e.Number), []byte{})
}

func (t *tx) RemovedEndpoints(limit int) (numbers []uint64, err error) {
	c := t.bolt.Bucket(bucketRemovedEndpoints).Cursor()
	for key, _ := c.First(); key != nil && len(numbers) < limit; key, _ = c.Next() {
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
	key, e, err := t.sealedEndpoint(number)
	if err != nil {
		return e, err
	}
	return e, storageFault(t.s.seal.openFields(bucketEndpoints, key, secretsOfEndpoint(&e)))
}

// sealedEndpoint reads an endpoint as its record holds it, for those who need no
// secret: one that does not open does not keep them from the others.
func (t *tx) sealedEndpoint(number uint64) (key []byte, e store.Endpoint, err error) {
	key = t.bolt.Bucket(bucketEndpointNumbers).Get(numberKey(number))
	if key == nil {
		return nil, e, store.Errorf(store.CodeNotFound, "There is no such webhook endpoint.")
	}
	return key, e, t.get(bucketEndpoints, key, "webhook endpoint", endpointFields(&e))
}
