package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// IdempotencyRecord codes the fields of a record in their order; new ones go to the end.
func IdempotencyRecord(c *rows.Codec, r *store.IdempotencyRecord) {
	c.Text(&r.OrgID)
	c.Text(&r.Key)
	c.Hash((*[32]byte)(&r.Fingerprint))
	c.Time(&r.FirstUse)
	c.Int(&r.Answer.Status)
	c.Text(&r.Answer.ContentType)
	c.Bytes(&r.Answer.Body)
}
