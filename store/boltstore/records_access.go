package boltstore

import "teamdata/store"

// The records of those who are let in.

func apiKeyFields(k *store.APIKey) func(*codec) {
	return func(c *codec) {
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
}

func operatorTokenFields(o *store.OperatorToken) func(*codec) {
	return func(c *codec) {
		c.text(&o.ID)
		c.text(&o.Name)
		c.hash((*[32]byte)(&o.SecretHash))
		c.time(&o.CreatedAt)
		c.time(&o.ExpiresAt)
	}
}

func accountFields(a *store.Account) func(*codec) {
	return func(c *codec) {
		c.text(&a.UserID)
		c.text(&a.Email)
		c.text(&a.PasswordHash)
		c.time(&a.PasswordAt)
		list(c, &a.Passkeys, func(p *store.Passkey) { c.record(passkeyFields(p)) })
		c.texts(&a.Sessions)
		c.time(&a.CreatedAt)
	}
}

func passkeyFields(p *store.Passkey) func(*codec) {
	return func(c *codec) {
		c.text(&p.ID)
		c.text(&p.Name)
		c.bytes(&p.Credential)
		c.time(&p.CreatedAt)
		c.time(&p.LastUsedAt)
	}
}

func sessionFields(s *store.Session) func(*codec) {
	return func(c *codec) {
		c.text(&s.ID)
		c.text(&s.UserID)
		c.hash((*[32]byte)(&s.SecretHash))
		c.text(&s.UserAgent)
		c.time(&s.CreatedAt)
		c.time(&s.LastSeenAt)
	}
}

func signInLinkFields(l *store.SignInLink) func(*codec) {
	return func(c *codec) {
		c.text(&l.ID)
		c.text(&l.UserID)
		c.hash((*[32]byte)(&l.SecretHash))
		c.time(&l.CreatedAt)
		c.time(&l.ExpiresAt)
	}
}
