package codec

import (
	"teamdata/store"
	"teamdata/store/rows"
)

// Endpoint codes the fields of a record in their order; new ones go to the end.
func Endpoint(c *rows.Codec, e *store.Endpoint) {
	c.Number(&e.Number)
	c.Text(&e.ID)
	c.Text(&e.OrgID)
	c.Text(&e.URL)
	c.Text(&e.Description)
	c.Texts(&e.Events)
	c.Text(&e.Secret)
	c.Time(&e.CreatedAt)
	c.Time(&e.DisabledAt)
	c.Text(&e.OldSecret)
	c.Time(&e.OldSecretUntil)
	c.Text(&e.DisabledBy)
	c.Text(&e.DisabledReason)
	c.Time(&e.VerifiedAt)
}

// SecretsOfEndpoint returns the fields that are sealed.
func SecretsOfEndpoint(e *store.Endpoint) []rows.Secret {
	return []rows.Secret{{Name: "secret", Text: &e.Secret}, {Name: "oldSecret", Text: &e.OldSecret}}
}
