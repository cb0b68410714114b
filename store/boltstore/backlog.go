package boltstore

import (
	"bytes"
	"context"

	"teamdata/store"
)

// Backlog costs a seek and a record for each endpoint with a history, and a step
// for each delivery that it counts, in the order of the endpoints' numbers.
func (s *Store) Backlog(ctx context.Context) (b store.Backlog, err error) {
	err = s.view(func(t *tx) error {
		if err := t.eachWaiting(ctx, func(e store.Endpoint, first dueAt) { t.countWaiting(&b, &e, first) }); err != nil {
			return err
		}
		mails, err := t.Mails("", store.MaxCountedMails)
		if b.Mails = len(mails); len(mails) > 0 {
			b.MailsAt = mails[0].CreatedAt
		}
		return err
	})
	return b, err
}

// countWaiting counts what waits for one endpoint.
func (t *tx) countWaiting(b *store.Backlog, e *store.Endpoint, first dueAt) {
	if !e.Disabled() {
		b.Busy++
		if b.DueAt.IsZero() || first.at.Before(b.DueAt) {
			b.DueAt = first.at
		}
	}
	prefix := listStart(first.endpoint, store.ListWaiting)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		if b.Due+b.Later+b.Held == store.MaxCountedDeliveries {
			b.Capped = true
			return
		}
		b.Count(e.Disabled(), dueOf(key).After(t.now))
	}
}
