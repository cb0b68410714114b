package codec

import "teamdata/store"

// APIKey codes the fields of a record in their order; new ones go to the end.
func APIKey(c *Codec, k *store.APIKey) {
	c.text(&k.ID)
	c.text(&k.OrgID)
	c.text(&k.Name)
	c.hash((*[32]byte)(&k.SecretHash))
	small(c, &k.Scopes)
	c.text(&k.CreatedBy)
	c.time(&k.CreatedAt)
	c.time(&k.ExpiresAt)
	c.time(&k.RevokedAt)
}

// KeyUse codes the fields of a record in their order; new ones go to the end.
func KeyUse(c *Codec, u *store.KeyUse) { c.time(&u.LastUsedAt) }
