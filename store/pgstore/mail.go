package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var mails = records[store.Mail]{table: define("mails", 1, text("id"), blob("record")), noun: "mail", fields: codec.Mail}

func (t *tx) PutMail(m store.Mail) error { return mails.put(t, m, m.ID) }

func (t *tx) Mail(id string) (store.Mail, error) { return mails.get(t, id) }

func (t *tx) DeleteMail(id string) error { return mails.remove(t, id) }

func (t *tx) Mails(after string, limit int) ([]store.Mail, error) { return mails.list(t, after, limit) }
