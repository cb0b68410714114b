package codec

import "teamdata/store"

// Account codes the fields of a record in their order; new ones go to the end.
func Account(c *Codec, a *store.Account) {
	c.text(&a.UserID)
	c.text(&a.Email)
	c.text(&a.PasswordHash)
	c.time(&a.PasswordAt)
	list(c, &a.Passkeys, func(c *Codec, p *store.Passkey) { inner(c, passkeyFields, p) })
	c.texts(&a.Sessions)
	c.time(&a.CreatedAt)
}

func passkeyFields(c *Codec, p *store.Passkey) {
	c.text(&p.ID)
	c.text(&p.Name)
	c.bytes(&p.Credential)
	c.time(&p.CreatedAt)
	c.time(&p.LastUsedAt)
}

// SecretsOfAccount returns the fields that are sealed.
func SecretsOfAccount(a *store.Account) []SecretField {
	return []SecretField{{"passwordHash", &a.PasswordHash}}
}
