package bench

import (
	"context"
	"time"

	"teamdata/store"
)

const (
	startMeaning   = "start to readiness, with so much waiting in the file"
	firstMeaning   = "readiness to the first receipt of what was overdue"
	backlogMemory  = "resident after the start"
	backlogMeaning = "as accept"
)

// measureBacklog compares a data file full of deliveries that wait with an
// empty one.
func (s *session) measureBacklog(ctx context.Context) error {
	full, err := s.prepareAccepting(ctx, "backlog.db", s.writeBacklog)
	if err != nil {
		return err
	}
	defer full.end()
	empty, err := s.prepareAccepting(ctx, "empty.db")
	if err != nil {
		return err
	}
	defer empty.end()
	if err := s.compareStarts(ctx, full, empty); err != nil {
		return err
	}
	if err := full.connect(ctx); err != nil {
		return err
	}
	if err := empty.connect(ctx); err != nil {
		return err
	}
	rounds, err := s.inTurns(ctx, full.turn, empty.turn)
	if err == nil {
		s.add(compared("backlog.accept", "answers/s", "empty file", backlogMeaning, rounds))
	}
	return err
}

// compareStarts starts both again and again, and leaves both running. What is
// overdue goes out after the first start.
func (s *session) compareStarts(ctx context.Context, full, empty *accepting) error {
	var first []float64
	starts, err := s.inTurns(ctx, func(ctx context.Context) (float64, error) {
		took, err := full.startTime(ctx)
		if err == nil && first == nil {
			first = make([]float64, 1)
			first[0], err = full.firstReceipt(ctx, min(overdue, s.Backlog))
		}
		return took, err
	}, empty.startTime)
	if err != nil {
		return err
	}
	s.add(compared("backlog.start", "s", "empty file", startMeaning, starts))
	s.add(alone("backlog.first", "s", firstMeaning, first...))
	if !memoryKnown {
		return nil
	}
	var memory Round
	if memory.Value, err = full.residentMemory(); err != nil {
		return err
	}
	if memory.Floor, err = empty.residentMemory(); err != nil {
		return err
	}
	s.add(compared("backlog.memory", "MiB", "empty file", backlogMemory, []Round{memory}))
	return nil
}

const (
	overdue     = 100            // of the backlog
	backlogSpan = 10 * time.Hour // from now on, over which the rest is due
	perUpdate   = 10_000         // deliveries written at once
)

// writeBacklog writes deliveries that were attempted once, to the endpoints of
// the second org in turns.
func (s *session) writeBacklog(ctx context.Context, into store.Store, w *world) error {
	endpoints := w.orgs[1].endpoints
	for done := 0; done < s.Backlog; {
		s.step("filling the file, %d of %d", done, s.Backlog)
		end := min(done+perUpdate, s.Backlog)
		err := into.Update(ctx, func(tx store.Tx) error {
			for i := done; i < end; i++ {
				if err := s.writeRetry(tx, &endpoints[i%len(endpoints)], i); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		done = end
	}
	return nil
}

// writeRetry writes number i of the backlog.
func (s *session) writeRetry(tx store.Tx, e *store.Endpoint, i int) error {
	now := tx.Now()
	due := now.Add(-time.Second)
	if i >= overdue {
		due = now.Add(time.Hour + time.Duration(i)*(backlogSpan/time.Duration(s.Backlog)))
	}
	d := store.Delivery{
		ID: tx.NewID(store.PrefixDelivery), EventID: tx.NewID(store.PrefixEvent), EventType: store.EventWebhookTest,
		OrgID: e.OrgID, EndpointID: e.ID, EndpointNumber: e.Number,
		State: store.StateRetrying, Attempts: 1, CreatedAt: now, FirstAttemptAt: now, DueAt: due,
		History: []store.Attempt{{
			StartedAt: now, EndedAt: now.Add(20 * time.Millisecond), Status: 503,
			Reason: "the receiver answered 503 Service Unavailable", NextAt: due,
		}},
	}
	err := tx.AddEvent(store.Event{
		ID: d.EventID, OrgID: e.OrgID, Type: d.EventType, CreatedAt: now, Deliveries: []string{d.ID},
		Body: testBody(e.OrgID, e.ID, now),
	})
	if err != nil {
		return err
	}
	return tx.AddDelivery(d)
}
