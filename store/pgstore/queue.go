package pgstore

import (
	"context"
	"strconv"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

var sqlEachDue = `SELECT e.number, e.key, e.value, d.at FROM ` + sqlEndpoints + ` e,
		LATERAL (SELECT at FROM deliveries WHERE endpoint = e.number AND list = 2 ORDER BY at, id LIMIT 1) d`

// eachDue calls fn with what sqlEachDue found of endpoints that are enabled.
func eachDue(found []row, fn func(endpoint uint64, due time.Time)) error {
	for _, r := range found {
		e, err := store.ReadEndpoint(r[1], r[2])
		if err != nil {
			return err
		}
		if !e.Disabled() {
			fn(readUnsigned(r[0]), readTime(r[3]))
		}
	}
	return nil
}

// EachDue looks at the start of each endpoint's waiting list.
func (s *Store) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return s.view(ctx, func(t *tx) error {
		rows, err := t.query(nil, sqlEachDue+" ORDER BY e.endpoint_numbers")
		if err != nil {
			return err
		}
		return eachDue(rows, fn)
	})
}

// announce tells of what is due in some shards of this node, as if it were new. What it
// can't read now is read when the node looks the next time.
func (s *Store) announce(ctx context.Context, shards []string) {
	var found []row
	var due rows.Changes
	err := s.node.conns.with(ctx, func(ctx context.Context, c *conn) (err error) {
		found, err = c.rows(ctx, newQuery(sqlEachDue+" WHERE 'shard ' || lpad((e.number % "+strconv.Itoa(store.Shards)+")::text, 2, '0') = ANY($1)", shards))
		return err
	})
	if err == nil {
		err = eachDue(found, due.Due)
	}
	if err != nil {
		s.node.known.miss()
		return
	}
	s.Tell(&due)
}

// waiting is an endpoint's waiting list. There is no transaction around what it reads,
// which would cost more than that; the endpoint is read last, so that nothing is sent by
// settings that were changed before it was made.
type waiting struct {
	*tx
	endpoint uint64
	step     int   // how many are read at once
	found    []row // of deliveries with their versions, in order
	taken    []row // those that were loaded
	again    bool  // one that is claimed was written since, by any node
}

// Walk reads the start of the list with the endpoint.
func (w *waiting) Walk(offer func(store.Cursor) bool) (e store.Endpoint, err error) {
	var endpoints []row
	next := []query{newQuery("SELECT key, value FROM endpoints WHERE endpoint_numbers = $1", unsigned(w.endpoint)).collect(&endpoints)}
	for after := (store.Cursor{}); ; next = nil {
		var rows []row
		page := newQuery("SELECT "+deliveries.columns+", xmin FROM deliveries WHERE endpoint = $1 AND list = 2 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4",
			w.endpoint, after.Ms, after.ID, w.step)
		if err := w.exec(append([]query{page.collect(&rows)}, next...)...); err != nil || len(endpoints) == 0 {
			return e, err
		}
		if after.IsZero() {
			if e, err = w.OpenEndpoint(endpoints[0][0], endpoints[0][1]); err != nil || e.Disabled() {
				return e, err
			}
		}
		w.found = append(w.found, rows...)
		for _, r := range rows {
			w.again = w.again || w.s.node.outdated(r)
			if after = placeOf(r); !offer(after) {
				return e, nil
			}
		}
		if len(rows) < w.step {
			return e, nil
		}
	}
}

// placeOf is the position of a row of found.
func placeOf(r row) store.Cursor { return store.Cursor{Ms: readUnsigned(r[3]), ID: string(r[0])} }

func (w *waiting) Load(at []store.Cursor) ([]store.Claim, error) {
	claims, ids := make([]store.Claim, 0, len(at)), make([]string, 0, len(at))
	for _, r := range w.found {
		if len(claims) == len(at) || placeOf(r) != at[len(claims)] {
			continue
		}
		d, err := readDelivery(r[:len(deliveries.cols)])
		if err != nil {
			return nil, err
		}
		claims, ids, w.taken = append(claims, store.Claim{Delivery: d}), append(ids, d.EventID), append(w.taken, r)
	}
	bodies, err := w.bodies(ids)
	if err != nil {
		return nil, err
	}
	for i := range claims {
		body, known := bodies[ids[i]]
		if !known {
			return nil, events.missing()
		}
		claims[i].Body = body
	}
	return claims, nil
}
