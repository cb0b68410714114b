package boltstore

import "teamdata/store"

func (t *tx) PutMail(m store.Mail) error {
	return t.put(t.bucket(bucketMails), []byte(m.ID), encode(mailFields(&m)))
}

func (t *tx) DeleteMail(id string) error { return t.delete(t.bucket(bucketMails), []byte(id)) }

func (t *tx) Mails(after string, limit int) (mails []store.Mail, err error) {
	c := t.bolt.Bucket(bucketMails).Cursor()
	key, record := c.Seek([]byte(after))
	if after != "" && string(key) == after {
		key, record = c.Next()
	}
	for ; key != nil && len(mails) < limit; key, record = c.Next() {
		var m store.Mail
		if err := decode(record, mailFields(&m)); err != nil {
			return nil, storageFault(err)
		}
		mails = append(mails, m)
	}
	return mails, nil
}
