package boltstore

import (
	"context"
	"time"

	"teamdata/store"
)

// Backlog costs a seek and a record per endpoint with a history, and a step per
// delivery counted. It goes by endpoint number.
func (s *Store) Backlog(ctx context.Context) (b store.Backlog, err error) {
	err = s.view(func(t *tx) error {
		if err := t.eachWaiting(ctx, func(e store.Endpoint, first dueAt) { t.addBacklog(&b, &e, first) }); err != nil {
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

// addBacklog counts the deliveries waiting for one endpoint.
func (t *tx) addBacklog(b *store.Backlog, e *store.Endpoint, first dueAt) {
	if e.Disabled() {
		b.HeldAt = earliest(b.HeldAt, e.HeldSince(first.at))
	} else {
		b.Busy++
		b.DueAt = earliest(b.DueAt, first.at)
	}
	t.countWaiting(&b.Waiting, e, store.MaxCountedDeliveries)
}

// earliest returns the earlier of two times; a zero a is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
