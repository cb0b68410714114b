package codec

import "teamdata/store"

// Endpoint codes the fields of a record in their order; new ones go to the end.
func Endpoint(c *Codec, e *store.Endpoint) {
	c.number(&e.Number)
	c.text(&e.ID)
	c.text(&e.OrgID)
	c.text(&e.URL)
	c.text(&e.Description)
	c.texts(&e.Events)
	c.text(&e.Secret)
	c.time(&e.CreatedAt)
	c.time(&e.DisabledAt)
	c.text(&e.OldSecret)
	c.time(&e.OldSecretUntil)
	c.text(&e.DisabledBy)
	c.text(&e.DisabledReason)
	c.time(&e.VerifiedAt)
}

// SecretsOfEndpoint returns the fields that are sealed.
func SecretsOfEndpoint(e *store.Endpoint) []SecretField {
	return []SecretField{{"secret", &e.Secret}, {"oldSecret", &e.OldSecret}}
}
