package codec

import "teamdata/store"

// IdempotencyRecord codes the fields of a record in their order; new ones go to the end.
func IdempotencyRecord(c *Codec, r *store.IdempotencyRecord) {
	c.text(&r.OrgID)
	c.text(&r.Key)
	c.hash((*[32]byte)(&r.Fingerprint))
	c.time(&r.FirstUse)
	c.int(&r.Answer.Status)
	c.text(&r.Answer.ContentType)
	c.bytes(&r.Answer.Body)
}

// KeyOf returns the org id and key of an idempotency record, without copying them;
// none if it is damaged.
func KeyOf(record []byte) (org, key []byte) {
	c := Codec{buf: record, reading: true}
	org, key = c.next(), c.next()
	if c.broken {
		return nil, nil
	}
	return org, key
}
