package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// APIKey codes the fields of a record in their order; new ones go to the end.
func APIKey(c *rows.Codec, k *store.APIKey) {
	c.Text(&k.ID)
	c.Text(&k.OrgID)
	c.Text(&k.Name)
	c.Hash((*[32]byte)(&k.SecretHash))
	rows.Small(c, &k.Scopes)
	c.Text(&k.CreatedBy)
	c.Time(&k.CreatedAt)
	c.Time(&k.ExpiresAt)
	c.Time(&k.RevokedAt)
}

// KeyUse codes the fields of a record in their order; new ones go to the end.
func KeyUse(c *rows.Codec, u *store.KeyUse) { c.Time(&u.LastUsedAt) }
