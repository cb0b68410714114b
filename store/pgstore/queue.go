package pgstore

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// OnDue sets the function that is called when deliveries become due.
func (s *Store) OnDue(fn func(endpoint uint64, due time.Time)) { s.onDue.Store(&fn) }

// EachDue looks at the start of each endpoint's waiting list.
func (s *Store) EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error {
	return s.view(ctx, func(t *tx) error {
		rows, err := t.query(nil, `SELECT e.number, d.at FROM endpoints e,
				LATERAL (SELECT at FROM deliveries WHERE endpoint = e.number AND list = 2 ORDER BY at, id LIMIT 1) d
			WHERE e.disabled = 0 ORDER BY e.number`)
		for _, r := range rows {
			fn(readUnsigned(r[0]), readTime(r[1]))
		}
		return err
	})
}

// Claim claims due deliveries in memory. Those of its snapshot may have been
// attempted and released since. If anything was released meanwhile, it reads the
// claimed ones again in a later snapshot, which shows that.
func (s *Store) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	for {
		var claims store.Claims
		var found []row
		current, released := true, s.released.Load()
		err := s.view(ctx, func(t *tx) (err error) {
			found, err = t.claim(&claims, endpoint, now, limit)
			if current = s.released.Load() == released; err == nil && current {
				err = load(&claims, found)
			}
			return err
		})
		if err == nil && !current && len(found) > 0 {
			err = s.view(ctx, func(t *tx) error { return t.loadAgain(&claims, found) })
		}
		if err != nil {
			for _, r := range found {
				s.Release(string(r[0]))
			}
			return store.Claims{}, err
		}
		if len(claims.Claims) > 0 || len(found) == 0 {
			return claims, nil
		}
	}
}

// claim walks the endpoint's waiting list and returns what it claimed.
func (t *tx) claim(claims *store.Claims, endpoint uint64, now time.Time, limit int) (found []row, err error) {
	e, err := t.endpointByNumber(endpoint)
	if e != nil {
		claims.Endpoint = *e
	}
	if err != nil || e == nil || e.Disabled() {
		return nil, err
	}
	step := limit + 16
	for after := (store.Cursor{}); ; {
		rows, err := t.query(nil, "SELECT id, record, at FROM deliveries WHERE endpoint = $1 AND list = 2 AND (at, id) > ($2, $3) ORDER BY at, id LIMIT $4",
			endpoint, after.Ms, after.ID, step)
		if err != nil {
			return found, err
		}
		for _, r := range rows {
			id, due := string(r[0]), readTime(r[2])
			switch claimed, again := t.s.isClaimed(id); {
			case claimed:
				claims.Again = claims.Again || again
			case len(found) == limit || due.After(now):
				claims.Next = due
				return t.withEvents(found)
			case t.s.claim(id):
				found = append(found, r)
			}
			after = store.Cursor{Ms: readUnsigned(r[2]), ID: id}
		}
		if len(rows) < step {
			return t.withEvents(found)
		}
	}
}

// withEvents replaces the last column of claimed rows by their events' records.
func (t *tx) withEvents(found []row) ([]row, error) {
	if len(found) == 0 {
		return nil, nil
	}
	ids := make([]string, len(found))
	for i, r := range found {
		d, err := readDelivery(row{r[0], r[1]})
		if err != nil {
			return found, err
		}
		ids[i] = d.EventID
	}
	rows, err := t.query(nil, "SELECT id, record FROM events WHERE id = ANY($1)", ids)
	if err != nil {
		return found, err
	}
	records := make(map[string][]byte, len(rows))
	for _, r := range rows {
		records[string(r[0])] = r[1]
	}
	for i, r := range found {
		found[i] = row{r[0], r[1], records[ids[i]]}
	}
	return found, nil
}

// loadAgain loads the claimed deliveries that are still due as they were, and
// releases the others.
func (t *tx) loadAgain(claims *store.Claims, found []row) error {
	rows, err := t.query(nil, "SELECT id, record FROM deliveries WHERE id = ANY($1) AND list = 2", firstTexts(found))
	if err != nil {
		return err
	}
	records := make(map[string][]byte, len(rows))
	for _, r := range rows {
		records[string(r[0])] = r[1]
	}
	var due []row
	for _, r := range found {
		if string(records[string(r[0])]) == string(r[1]) {
			due = append(due, r)
		} else {
			t.s.Release(string(r[0]))
		}
	}
	return load(claims, due)
}

// load loads claimed deliveries.
func load(claims *store.Claims, found []row) error {
	claims.Claims = make([]store.Claim, 0, len(found))
	for _, r := range found {
		d, err := readDelivery(r[:2])
		if err != nil {
			return err
		}
		if r[2] == nil {
			return events.missing()
		}
		e, err := events.read(r[1:])
		if err != nil {
			return err
		}
		claims.Claims = append(claims.Claims, store.Claim{Delivery: d, Body: e.Body})
	}
	return nil
}

// claims are the deliveries being attempted, in memory: this server is the only one
// that sends.
type claims struct {
	mu       sync.Mutex
	claimed  map[string]bool // by id: whether it was written since, and waits
	released atomic.Uint64   // number of releases
}

func (c *claims) claim(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, taken := c.claimed[id]; taken {
		return false
	}
	c.claimed[id] = false
	return true
}

// note notes that deliveries were written, and wait.
func (c *claims) note(ids []string) {
	if len(ids) == 0 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		if _, claimed := c.claimed[id]; claimed {
			c.claimed[id] = true
		}
	}
}

// Release releases a claimed delivery.
func (c *claims) Release(deliveryID string) {
	c.released.Add(1) // before it can be claimed again
	c.mu.Lock()
	delete(c.claimed, deliveryID)
	c.mu.Unlock()
}

func (c *claims) isClaimed(id string) (claimed, again bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	again, claimed = c.claimed[id]
	return claimed, again
}
