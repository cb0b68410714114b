package pgstore

import (
	"context"
	"time"

	"teamdata/store"
)

// Backlog costs a seek per endpoint, and a step per delivery counted.
func (s *Store) Backlog(ctx context.Context) (b store.Backlog, err error) {
	err = s.view(ctx, func(t *tx) error {
		rows, err := t.query(nil, `
			SELECT e.key, e.value, d.first, d.due, d.waiting FROM `+sqlEndpoints+` e,
				LATERAL (SELECT min(at) AS first, count(*) FILTER (WHERE at <= $1) AS due, count(*) AS waiting FROM
					(SELECT at FROM deliveries WHERE endpoint = e.number AND list = 2 ORDER BY at, id LIMIT $2) counted) d
			WHERE d.waiting > 0 ORDER BY e.endpoint_numbers`, t.now, store.MaxCountedDeliveries+1)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if err := addBacklog(&b, r); err != nil {
				return err
			}
		}
		mails, err := t.Mails("", store.MaxCountedMails)
		if b.Mails = len(mails); len(mails) > 0 {
			b.MailsAt = mails[0].CreatedAt
		}
		return err
	})
	return b, err
}

// addBacklog adds the deliveries waiting for one endpoint.
func addBacklog(b *store.Backlog, r row) error {
	e, err := store.ReadEndpoint(r[0], r[1])
	if err != nil {
		return err
	}
	if first := readTime(r[2]); e.Disabled() {
		b.HeldAt = earliest(b.HeldAt, e.HeldSince(first))
	} else {
		b.Busy++
		b.DueAt = earliest(b.DueAt, first)
	}
	addWaiting(&b.Waiting, e.Disabled(), int(readBigint(r[3])), int(readBigint(r[4])), store.MaxCountedDeliveries)
	return nil
}

// earliest returns the earlier of two times; a zero a is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}
