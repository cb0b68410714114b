package boltstore

import "teamdata/store"

func (t *tx) HTTPOnLoopback() bool { return t.s.tests }

func (t *tx) PutEndpoint(e store.Endpoint) error {
	if err := t.Nouns.PutEndpoint(e); err != nil {
		return err
	}
	if first, ok := t.firstDue(e.Number); ok && !e.Disabled() {
		t.Due(first.endpoint, first.at)
	}
	return nil
}

func (t *tx) ForgetEndpoint(number uint64) error {
	if err := t.Nouns.ForgetEndpoint(number); err != nil {
		return err
	}
	return t.delete(t.bucket(bucketLastAcknowledged), numberKey(number))
}

// isEndpoint reports whether a number is of an endpoint, or of a removed one that
// is not yet forgotten.
func (c *checker) isEndpoint(number []byte) bool {
	return c.get([]byte("endpointNumbers"), number) != nil || c.get([]byte("removedEndpoints"), number) != nil
}
