package boltstore

import (
	"bytes"
	"context"
	"time"

	"teamdata/store"
)

// maxCounted is how many deliveries Backlog counts, so that counting a large
// queue stays cheap.
const maxCounted = 100_000

// Backlog is what waits to be sent.
type Backlog struct {
	Due     int       // deliveries whose time has come
	Later   int       // those whose retry comes later
	Held    int       // those of disabled endpoints
	Busy    int       // endpoints with deliveries that wait, without the disabled
	Capped  bool      // there are more than were counted
	DueAt   time.Time // of the earliest, without those that are held; zero: there is none
	Mails   int       // that wait, up to 1,000
	MailsAt time.Time // when the oldest of them was queued; zero: there is none
}

// maxMails is how many mails Backlog counts.
const maxMails = 1000

// Backlog counts in one moment of the data. It costs a seek and a record for each
// endpoint with a history, and a step for each delivery that it counts: 100,000
// at most, in the order of the endpoints' numbers.
func (s *Store) Backlog(ctx context.Context) (b Backlog, err error) {
	err = s.view(func(t *tx) error {
		if err := t.eachWaiting(ctx, func(e store.Endpoint, first dueAt) { t.countWaiting(&b, &e, first) }); err != nil {
			return err
		}
		mails, err := t.Mails("", maxMails)
		if b.Mails = len(mails); len(mails) > 0 {
			b.MailsAt = mails[0].CreatedAt
		}
		return err
	})
	return b, err
}

// countWaiting counts what waits for one endpoint.
func (t *tx) countWaiting(b *Backlog, e *store.Endpoint, first dueAt) {
	if !e.Disabled() {
		b.Busy++
		if b.DueAt.IsZero() || first.at.Before(b.DueAt) {
			b.DueAt = first.at
		}
	}
	prefix := listStart(first.endpoint, store.ListWaiting)
	c := t.bolt.Bucket(bucketDeliveryLists).Cursor()
	for key, _ := c.Seek(prefix); bytes.HasPrefix(key, prefix); key, _ = c.Next() {
		if b.Due+b.Later+b.Held == maxCounted {
			b.Capped = true
			return
		}
		b.count(e.Disabled(), dueOf(key).After(t.now))
	}
}

func (b *Backlog) count(held, later bool) {
	switch {
	case held:
		b.Held++
	case later:
		b.Later++
	default:
		b.Due++
	}
}
