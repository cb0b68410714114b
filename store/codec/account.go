package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Account codes the fields of a record in their order; new ones go to the end.
func Account(c *rows.Codec, a *store.Account) {
	c.Text(&a.UserID)
	c.Text(&a.Email)
	c.Text(&a.PasswordHash)
	c.Time(&a.PasswordAt)
	rows.List(c, &a.Passkeys, func(c *rows.Codec, p *store.Passkey) { rows.Inner(c, passkeyFields, p) })
	c.Texts(&a.Sessions)
	c.Time(&a.CreatedAt)
}

func passkeyFields(c *rows.Codec, p *store.Passkey) {
	c.Text(&p.ID)
	c.Text(&p.Name)
	c.Bytes(&p.Credential)
	c.Time(&p.CreatedAt)
	c.Time(&p.LastUsedAt)
}

// SecretsOfAccount returns the fields that are sealed.
func SecretsOfAccount(a *store.Account) []rows.Secret {
	return []rows.Secret{{Name: "passwordHash", Text: &a.PasswordHash}}
}
