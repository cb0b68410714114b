package pgstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// queryDue gathers when the first waiting delivery of each enabled endpoint is due: the
// first of list 2. more is a condition on the endpoints, or their order.
func queryDue(due *rows.Changes, more string, args ...any) query {
	q := newQuery(`SELECT e.endpoint_numbers, e.value, d.place FROM endpoints e,
		LATERAL (SELECT place FROM deliveries WHERE place >= e.endpoint_numbers || '\x02' AND place < e.endpoint_numbers || '\x03' ORDER BY place LIMIT 1) d
		WHERE e.endpoint_numbers < '\x4000000000000000' `+more, args...) // store.FirstPull
	in := store.Tx{Tx: new(rows.Tx)}
	q.row = func(values [][]byte) error {
		disabled, err := in.IsDisabled(values[1])
		if err == nil && !disabled {
			due.Due(readUnsigned(values[0]), store.DueAt(values[2]))
		}
		return err
	}
	return q
}

func (s *Store) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return s.view(ctx, func(t *tx) error {
		var due rows.Changes
		t.begun = true // for one query there is no need
		if err := t.scan(nil, queryDue(&due, "ORDER BY e.endpoint_numbers")); err != nil {
			return err
		}
		for _, d := range due.Dues {
			fn(d.Endpoint, d.At)
		}
		return nil
	})
}

// announce tells of what is due in some shards of this node, as if it were new. Deliveries that
// it can't read now are read when the node looks the next time.
func (s *Store) announce(ctx context.Context, shards []string) {
	var due rows.Changes
	var numbers []uint64
	for _, name := range shards {
		numbers = append(numbers, uint64(slices.Index(shardNames[:], name)))
	}
	// The last byte of a number is enough, since the number of shards divides 256.
	inShards := fmt.Sprintf("AND get_byte(e.endpoint_numbers, 7) %% %d = ANY($1::bigint[])", store.Shards)
	if err := s.node.conns.run(ctx, queryDue(&due, inShards, numbers)); err != nil {
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
	for within := store.WaitingOf(w.endpoint); ; next = nil {
		var rows []row
		page := newQuery("SELECT "+deliveries.columns+", xmin FROM deliveries WHERE place >= $1 AND place < $2 ORDER BY place LIMIT $3", within.From, within.To, w.step)
		first := next != nil
		if err := w.exec(append([]query{page.collect(&rows)}, next...)...); err != nil || len(endpoints) == 0 {
			return e, err
		}
		if first {
			if e, err = w.OpenEndpoint(endpoints[0][0], endpoints[0][1]); err != nil || e.Disabled() || e.Pull() {
				return e, err
			}
		}
		w.found = append(w.found, rows...)
		for _, r := range rows {
			w.again = w.again || w.s.node.outdated(r)
			if !offer(placeOf(r)) {
				return e, nil
			}
		}
		if len(rows) < w.step {
			return e, nil
		}
		within.From = append(bytes.Clone(rows[len(rows)-1][deliveries.entries[0]]), 0)
	}
}

// placeOf is the position of a row of found.
func placeOf(r row) store.Cursor { return store.PositionOf(r[deliveries.entries[0]]) }

func (w *waiting) Load(at []store.Cursor) ([]store.Claim, error) {
	claims := make([]store.Claim, 0, len(at))
	var apart []string // events that don't share the row of their delivery
	for _, r := range w.found {
		if len(claims) == len(at) || placeOf(r) != at[len(claims)] {
			continue
		}
		d, body, err := store.ReadDelivery(r[0], r[:len(deliveries.cols)].value())
		if err != nil {
			return nil, err
		}
		if len(body) == 0 {
			apart = append(apart, d.EventID)
		}
		claims, w.taken = append(claims, store.Claim{Delivery: d, Body: body}), append(w.taken, r)
	}
	bodies, err := w.bodies(apart)
	for i := range claims {
		if c := &claims[i]; err == nil && len(c.Body) == 0 {
			var known bool
			if c.Body, known = bodies[c.Delivery.EventID]; !known {
				err = store.Errorf(store.CodeNotFound, "There is no such event.")
			}
		}
	}
	return claims, err
}
