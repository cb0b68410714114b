package bench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Database is a place in a database where measurements are made. What else is in the
// database is left alone. Of its baselines each call is one turn of one caller.
type Database interface {
	// Open opens an engine there, as a server of that name does.
	Open(ctx context.Context, node string) (store.Engine, error)

	RoundTrip(ctx context.Context) error       // nothing, there and back
	Insert(ctx context.Context) error          // one row in a transaction
	Accept(ctx context.Context, org int) error // a transaction for one request
	// Outcomes claims deliveries with SKIP LOCKED and writes their outcomes, all at once
	// or each in a transaction.
	Outcomes(ctx context.Context, atOnce bool) (n int, err error)
	Drop(ctx context.Context) error // removes the place, whose engines are closed
}

var databaseGroups = []group{
	{(*session).measureDatabaseAccept, []Measurement{
		{"insert", "one row in a transaction, prepared, on 64 connections: baseline of accept"},
		{"accept", "requests accepted with their keys, audit entries and events, of 64 callers in 64 orgs"},
		{"accept-hot", "the same in one org"},
		{"accept-grouped", "accept, beside a transaction for each request that does one thing after the other"},
	}},
	{(*session).measureAcceptAway, []Measurement{
		{"accept-away", "accept-grouped with a database whose answers take 1 ms longer"},
		{"accept-away-hot", "the same in one org"},
	}},
	{measureNodes(0), []Measurement{
		{"nodes", "accept of 256 callers by two nodes, and by four, beside one alone; a request for any org comes to any node"},
		{"nodes-hot", "the same in one org"},
	}},
	{measureNodes(away), []Measurement{
		{"nodes-away", "nodes with a database whose answers take 1 ms longer"},
		{"nodes-away-hot", "the same in one org"},
	}},
	{(*session).measureOutcome, []Measurement{
		{"outcome", "deliveries claimed by 32 and recorded, beside a queue in a table with SKIP LOCKED that records 32 at once"},
		{"outcome-each", "the same beside one that records each as its attempt ends"},
	}},
	{(*session).measureDatabasePage, []Measurement{{"page", "a page of 100 members, one after the other, beside a query for nothing"}}},
	{(*session).measureReady, []Measurement{{"ready", "from a start until each endpoint's next delivery is known, with many waiting, beside none"}}},
}

const (
	benchOrgs       = 64
	readyEndpoints  = 1000
	outcomeClaim    = 32
	endpointsPerOrg = readyEndpoints / 20
	away            = time.Millisecond
)

// newDatabase makes a place with an engine and orgs that have so many endpoints each,
// until the measurement ends.
func (s *session) newDatabase(ctx context.Context, away time.Duration, orgs, endpoints int) (Database, store.Engine, []store.Endpoint, error) {
	d, err := s.Database(ctx, away)
	if err != nil {
		return nil, nil, nil, err
	}
	s.onEnd(func() {
		if err := d.Drop(context.WithoutCancel(ctx)); err != nil {
			s.report.Notes = append(s.report.Notes, err.Error())
		}
	})
	e, err := d.Open(ctx, "bench")
	if err != nil {
		return nil, nil, nil, err
	}
	s.onEnd(func() { e.Close() })
	var all []store.Endpoint
	err = e.Update(ctx, store.All, func(tx store.Tx) error {
		all = all[:0]
		for i := range orgs {
			id := orgID(i)
			if _, err := store.ImportOrg(tx, store.Org{ID: id, Name: id}); err != nil {
				return err
			}
			for j := range endpoints {
				made, err := store.ImportEndpoint(tx, store.Endpoint{
					ID: fmt.Sprintf("whe_%d", j), OrgID: id, URL: "https://receiver.example/hook", Events: []string{store.EventMemberAdded},
				})
				if err != nil {
					return err
				}
				all = append(all, made)
			}
		}
		return nil
	})
	return d, e, all, err
}

func orgID(i int) string { return fmt.Sprintf("org_bench_%02d", i) }

// calls is a turn of callers who call for a time, at least once each, and again as soon
// as they were answered. It returns how much was done a second, as fn counts it.
func (s *session) calls(callers int, fn func(ctx context.Context, caller int) (n int, err error)) turn {
	return func(ctx context.Context) (float64, error) {
		var count atomic.Int64
		start := time.Now()
		err := together(ctx, callers, func(ctx context.Context, caller int) error {
			for {
				n, err := fn(ctx, caller)
				count.Add(int64(n))
				if err != nil || time.Since(start) >= s.Duration {
					return err
				}
			}
		})
		return float64(count.Load()) / time.Since(start).Seconds(), err
	}
}

func once(fn func(context.Context) error) func(context.Context, int) (int, error) {
	return func(ctx context.Context, _ int) (int, error) { return 1, fn(ctx) }
}

func (s *session) measureDatabaseAccept(ctx context.Context) error {
	d, e, _, err := s.newDatabase(ctx, 0, benchOrgs, 1)
	if err != nil {
		return err
	}
	accepting := func(orgs int) turn { return s.accepting(connections, orgs, e) }
	insert := s.calls(connections, once(d.Insert))
	inserts := []float64{}
	for _, m := range []struct {
		name, beside, meaning string
		server, baseline      turn
	}{
		{"accept", "insert", "64 callers in 64 orgs, each with its key, audit entry, event and delivery", accepting(benchOrgs), insert},
		{"accept-hot", "insert", "the same in one org", accepting(1), insert},
		{"accept-grouped", "transaction a request", "64 callers in 64 orgs", accepting(benchOrgs), s.ungrouped(benchOrgs, d)},
	} {
		if !s.wants(m.name) && !(m.name == "accept" && s.wants("insert")) {
			continue
		}
		rounds, err := s.inTurns(ctx, m.server, m.baseline)
		if err != nil {
			return err
		}
		if m.beside == "insert" {
			inserts = append(inserts, baselines(rounds)...)
		}
		if m.name == "accept" {
			s.add(alone("insert", "rows/s", "one row a transaction, 64 connections", inserts...))
		}
		s.add(compared(m.name, "answers/s", m.beside, m.meaning, rounds))
	}
	return nil
}

// measureAcceptAway measures accept-grouped again, further away.
func (s *session) measureAcceptAway(ctx context.Context) error {
	d, e, _, err := s.newDatabase(ctx, away, benchOrgs, 1)
	if err != nil {
		return err
	}
	for _, m := range []struct {
		name, meaning string
		orgs          int
	}{
		{"accept-away", "64 callers in 64 orgs, the database 1 ms away", benchOrgs},
		{"accept-away-hot", "the same in one org", 1},
	} {
		if !s.wants(m.name) {
			continue
		}
		rounds, err := s.inTurns(ctx, s.accepting(connections, m.orgs, e), s.ungrouped(m.orgs, d))
		if err != nil {
			return err
		}
		s.add(compared(m.name, "answers/s", "transaction a request", m.meaning, rounds))
	}
	return nil
}

// accepting is a turn of callers whose requests are for orgs in turns, by way of engines
// that have a share of the callers each.
func (s *session) accepting(callers, orgs int, engines ...store.Engine) turn {
	return s.calls(callers, func(ctx context.Context, caller int) (int, error) {
		n := s.accepted.Add(1)
		return 1, acceptTest(ctx, engines[caller%len(engines)], orgID(int(n)%orgs), fmt.Sprint("key-", n))
	})
}

// ungrouped is a turn of as many callers with a transaction for each request.
func (s *session) ungrouped(orgs int, d Database) turn {
	return s.calls(connections, func(ctx context.Context, _ int) (int, error) {
		return 1, d.Accept(ctx, int(s.accepted.Add(1))%orgs)
	})
}

// acceptTest accepts a request for a test, as the public API does.
func acceptTest(ctx context.Context, e store.Store, org, key string) error {
	scope := store.InOrg(org)
	scope.Keys = []store.IdempotencyKey{{OrgID: org, Key: key}}
	return e.Update(ctx, scope, func(tx store.Tx) error {
		if _, err := tx.IdempotencyRecord(org, key); !store.IsNotFound(err) {
			return err
		}
		_, errAudit := store.AppendAudit(tx, store.AuditEntry{OrgID: org, Action: "bench"})
		d, err := store.SendTest(tx, org, "whe_0")
		return errors.Join(err, errAudit, tx.AddIdempotencyRecord(store.IdempotencyRecord{
			OrgID: org, Key: key, FirstUse: tx.Now(), Answer: store.Answer{Status: 200, Body: []byte(`{"id":"` + d.ID + `"}`)},
		}))
	})
}

// measureOutcome has an endpoint for each caller, whose deliveries it claims and
// records as the dispatcher does, without sending them.
func (s *session) measureOutcome(ctx context.Context) error {
	d, e, endpoints, err := s.newDatabase(ctx, 0, benchOrgs, 1)
	if err != nil {
		return err
	}
	server := func(ctx context.Context) (float64, error) {
		if err := inLots(ctx, e, s.Events, func(tx store.Tx, i int) error {
			_, err := store.SendTest(tx, orgID(i%benchOrgs), "whe_0")
			return err
		}); err != nil {
			return 0, err
		}
		start := time.Now()
		err := together(ctx, benchOrgs, func(ctx context.Context, i int) error {
			for {
				n, err := recordAll(ctx, e, endpoints[i])
				if err != nil || n == 0 {
					return err
				}
			}
		})
		return float64(s.Events) / time.Since(start).Seconds(), err
	}
	for _, m := range []struct {
		name, beside string
		atOnce       bool
	}{{"outcome", "SKIP LOCKED, 32 recorded at once", true}, {"outcome-each", "SKIP LOCKED, each recorded by itself", false}} {
		if !s.wants(m.name) {
			continue
		}
		rounds, err := s.inTurns(ctx, server, s.calls(benchOrgs, func(ctx context.Context, _ int) (int, error) { return d.Outcomes(ctx, m.atOnce) }))
		if err != nil {
			return err
		}
		s.add(compared(m.name, "deliveries/s", m.beside, "claimed by 32 and recorded as they end, 64 endpoints", rounds))
	}
	return nil
}

// recordAll claims some deliveries and records that they were acknowledged.
func recordAll(ctx context.Context, e store.Store, to store.Endpoint) (n int, err error) {
	claims, err := e.Claim(ctx, to.Number, time.Now().Add(time.Hour), outcomeClaim)
	if err != nil {
		return 0, err
	}
	return len(claims.Claims), together(ctx, len(claims.Claims), func(ctx context.Context, i int) error {
		id := claims.Claims[i].Delivery.ID
		defer e.Release(id)
		scope := store.Scope{Orgs: []string{to.OrgID}, Deliveries: []string{id}, Fence: claims.Fence}
		return e.Update(ctx, scope, func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, id, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}, nil)
			return err
		})
	})
}

func (s *session) measureDatabasePage(ctx context.Context) error {
	d, e, _, err := s.newDatabase(ctx, 0, 1, 0)
	if err != nil {
		return err
	}
	if err := inLots(ctx, e, s.Members, func(tx store.Tx, i int) error {
		_, err := tx.AppendMember(store.Member{OrgID: orgID(0), UserID: fmt.Sprintf("usr_%06d", i), Role: store.RoleMember})
		return err
	}); err != nil {
		return err
	}
	page := make([]byte, 0, 64<<10)
	server := s.each(func(ctx context.Context) error {
		return e.View(ctx, func(tx store.Tx) error {
			_, err := tx.MemberPage(orgID(0), store.Cursor{}, 100, page[:0])
			return err
		})
	})
	rounds, err := s.inTurns(ctx, server, s.each(d.RoundTrip))
	if err == nil {
		s.add(compared("page", "µs", "round trip", "100 members, one caller", rounds))
	}
	return err
}

// each is a turn of one caller; it returns the microseconds that a call took.
func (s *session) each(fn func(context.Context) error) turn {
	calls := s.calls(1, once(fn))
	return func(ctx context.Context) (float64, error) {
		perSecond, err := calls(ctx)
		return 1e6 / perSecond, err
	}
}

func (s *session) measureReady(ctx context.Context) error {
	starting := func(waiting int) (turn, error) {
		d, e, endpoints, err := s.newDatabase(ctx, 0, readyEndpoints/endpointsPerOrg, endpointsPerOrg)
		if err == nil {
			err = writeRetries(ctx, e, endpoints, waiting)
		}
		if err == nil {
			err = e.Close()
		}
		return func(ctx context.Context) (float64, error) { return startOn(ctx, d, min(waiting, len(endpoints))) }, err
	}
	empty, err := starting(0)
	if err != nil {
		return err
	}
	full, err := starting(s.Waiting)
	if err != nil {
		return err
	}
	rounds, err := s.inTurns(ctx, full, empty)
	if err == nil {
		s.add(compared("ready", "ms", "none waiting", fmt.Sprintf("%s waiting in 1,000 endpoints (--waiting)", number(float64(s.Waiting))), rounds))
	}
	return err
}

// startOn opens an engine and asks for the earliest due time of each endpoint, of whom
// some must have one. It returns how many milliseconds that took.
func startOn(ctx context.Context, d Database, want int) (float64, error) {
	start := time.Now()
	e, err := d.Open(ctx, "bench")
	if err != nil {
		return 0, err
	}
	defer e.Close()
	found := 0
	err = e.EachDue(ctx, func(uint64, time.Time) { found++ })
	took := millis(time.Since(start))
	if err == nil && found != want {
		err = fmt.Errorf("deliveries to %d endpoints are found, and %d are there", found, want)
	}
	return took, err
}

const (
	overdue     = 100            // of a backlog
	backlogSpan = 10 * time.Hour // from now on, over which the rest is due
	perUpdate   = 10_000         // written at once
)

// writeRetries writes deliveries that were attempted once, to endpoints in turns.
func writeRetries(ctx context.Context, into store.Store, endpoints []store.Endpoint, size int) error {
	return inLots(ctx, into, size, func(tx store.Tx, i int) error { return writeRetry(tx, &endpoints[i%len(endpoints)], i, size) })
}

// inLots writes so many, by their numbers.
func inLots(ctx context.Context, into store.Store, size int, write func(tx store.Tx, i int) error) error {
	for done := 0; done < size; done += perUpdate {
		if err := into.Update(ctx, store.All, func(tx store.Tx) error {
			for i := done; i < min(done+perUpdate, size); i++ {
				if err := write(tx, i); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// writeRetry writes number i of the backlog.
func writeRetry(tx store.Tx, e *store.Endpoint, i, size int) error {
	now := tx.Now()
	due := now.Add(-time.Second)
	if i >= overdue {
		due = now.Add(time.Hour + time.Duration(i)*(backlogSpan/time.Duration(size)))
	}
	event, d := newRetry(tx, e, due)
	return tx.AddEvent(event, []store.Delivery{d})
}

// newRetry makes an event and its delivery, which was attempted once.
func newRetry(tx store.Tx, e *store.Endpoint, due time.Time) (store.Event, store.Delivery) {
	now, id := tx.Now(), tx.NewID(store.PrefixEvent)
	d := store.Delivery{
		ID: store.FirstDelivery(id), EventID: id, EventType: store.EventWebhookTest,
		OrgID: e.OrgID, EndpointID: e.ID, EndpointNumber: e.Number,
		State: store.StateRetrying, Attempts: 1, CreatedAt: now, FirstAttemptAt: now, DueAt: due,
		History: []store.Attempt{{
			StartedAt: now, EndedAt: now.Add(20 * time.Millisecond), Status: 503,
			Reason: "the receiver answered 503 Service Unavailable", NextAt: due,
		}},
	}
	return store.Event{
		ID: d.EventID, OrgID: e.OrgID, Type: d.EventType, CreatedAt: now, Deliveries: []string{d.ID},
		Body: []byte(`{"type":"webhook.test","timestamp":"` + store.FormatTime(now) + `","data":{"orgId":"` + e.OrgID + `","endpointId":"` + e.ID + `"}}`),
	}, d
}
