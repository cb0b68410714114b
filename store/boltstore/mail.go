package boltstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var mails = table[store.Mail]{bucket: bucketMails, noun: "mail", fields: codec.Mail}

func (t *tx) PutMail(m store.Mail) error { return mails.put(t, []byte(m.ID), m) }

func (t *tx) Mail(id string) (store.Mail, error) { return mails.get(t, []byte(id)) }

func (t *tx) DeleteMail(id string) error { return mails.delete(t, []byte(id)) }

func (t *tx) Mails(after string, limit int) ([]store.Mail, error) {
	return mails.list(t, after, limit)
}
