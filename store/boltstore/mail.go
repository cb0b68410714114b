package boltstore

import "teamdata/store"

var mails = table[store.Mail]{bucket: bucketMails, noun: "mail", fields: mailFields}

func mailFields(c *codec, m *store.Mail) {
	c.text(&m.ID)
	c.text(&m.OrgID)
	c.text(&m.To)
	c.text(&m.Name)
	c.text(&m.Template)
	c.pairs(&m.Values)
	c.time(&m.CreatedAt)
	c.int(&m.Attempts)
	c.time(&m.DueAt)
}

func (t *tx) PutMail(m store.Mail) error { return mails.put(t, []byte(m.ID), m) }

func (t *tx) DeleteMail(id string) error { return mails.delete(t, []byte(id)) }

func (t *tx) Mails(after string, limit int) ([]store.Mail, error) {
	return mails.list(t, after, limit)
}
