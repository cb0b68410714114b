package admin

import (
	"context"
	"time"

	"teamdata/store"
)

// readStatus answers what the server knows of itself, and what is waiting in it.
func (r *request) readStatus() error {
	s, err := r.api.config.Status(r.HTTP.Context())
	if err != nil {
		return err
	}
	waiting, err := r.api.waiting(r.HTTP.Context())
	if err != nil {
		return err
	}
	r.Send(ok(newObject().text("version", r.api.config.Version).text("dataFile", s.DataFile).
		number("size", s.Size).number("schema", int64(s.Schema)).flag("sealed", s.Sealed).
		time("since", s.Since).texts("addresses", s.Addresses).
		raw("certificates", certificatesJSON(s.Certificates)).raw("waiting", waiting).end()))
	return nil
}

func certificatesJSON(certificates []Certificate) []byte {
	list := []byte{'['}
	for i, c := range certificates {
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, newObject().text("name", c.Name).time("notAfter", c.NotAfter).time("nextRenewal", c.NextRenewal).
			nullable("lastError", c.LastError).time("lastErrorAt", c.LastErrorAt).end()...)
	}
	return append(list, ']')
}

// maxCounted is the most mails that are counted.
const maxCounted = 1000

// waiting tells how many endpoints have deliveries that wait, when the first of
// those is due, and how much mail waits. Endpoints that are disabled don't
// count.
func (a *Admin) waiting(ctx context.Context) ([]byte, error) {
	endpoints, first := 0, time.Time{}
	err := a.store.EachDue(ctx, func(_ uint64, due time.Time) {
		if endpoints++; first.IsZero() || due.Before(first) {
			first = due
		}
	})
	if err != nil {
		return nil, err
	}
	mails := 0
	err = a.store.View(ctx, func(tx store.Tx) error {
		list, err := tx.Mails("", maxCounted)
		mails = len(list)
		return err
	})
	return newObject().number("endpoints", int64(endpoints)).time("dueAt", first).number("mails", int64(mails)).end(), err
}
