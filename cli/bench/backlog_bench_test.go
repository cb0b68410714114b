package bench

import (
	"context"
	"errors"
	"flag"
	"os"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/wire/fixture"
)

var backlogSize = flag.Int("backlog", 100_000, "how many deliveries wait in BenchmarkBacklog")

// BenchmarkBacklog compares a server on a data file full of deliveries that wait
// for a retry with one on an empty file: how long a start takes, what is resident
// then, and how many events a second are accepted. What is overdue goes out after
// the start; the time to its first receipt is a figure too. More than the usual:
//
//	go test ./cli/bench -run '^$' -bench Backlog -args -backlog 1000000
func BenchmarkBacklog(b *testing.B) {
	for b.Loop() {
		s := benchSession(b)
		full, empty := s.newBacklog(b, "full", *backlogSize), s.newBacklog(b, "empty", 0)
		var first time.Duration
		starts, err := s.inTurns(b.Context(), func(context.Context) (float64, error) {
			took := full.start(b)
			if first == 0 {
				first = full.firstReceipt(b, min(overdue, *backlogSize))
			}
			return took, nil
		}, func(context.Context) (float64, error) { return empty.start(b), nil })
		kit.Must(b, err)
		reportCompared(b, "start-ms", starts)
		b.ReportMetric(millis(first), "first-receipt-ms")
		now, _ := residentMemory(b, full.process)
		b.ReportMetric(now, "resident-MiB")
		now, _ = residentMemory(b, empty.process)
		b.ReportMetric(now, "resident-empty-MiB")
		accepted, err := s.inTurns(b.Context(), full.accept(b), empty.accept(b))
		kit.Must(b, err)
		reportCompared(b, "accepts/s", accepted)
		s.cleanUp()
	}
	b.ReportMetric(0, "ns/op")
}

// reportCompared reports the figure of rounds, and that of the empty file.
func reportCompared(b *testing.B, unit string, rounds []Round) {
	b.Helper()
	f := compared("", unit, "", "", rounds)
	b.ReportMetric(f.Value, unit)
	b.ReportMetric(*f.Baseline, "empty-"+unit)
}

// backlog is a deployment whose data file was filled before.
type backlog struct {
	deployment
	readyAt time.Time
}

// newBacklog makes a data file with an org that nobody answers, and with deliveries
// that wait for the endpoints of another.
func (s *session) newBacklog(b *testing.B, name string, size int) *backlog {
	b.Helper()
	r, err := s.newReceiver(b.Context(), name+".ca")
	kit.Must(b, err)
	silent, err := r.listen(1, true)
	kit.Must(b, err)
	others, err := r.listen(store.MaxEndpoints, false)
	kit.Must(b, err)
	own, other := newOrg(0, 0, silent...), newOrg(1, 0, others...)
	data := s.path(name + ".db")
	kit.Must(b, writeSeed(data+".json", own, other))
	into, err := boltstore.Open(data, boltstore.Options{NoSync: true})
	kit.Must(b, err)
	seed, err := os.Open(data + ".json")
	kit.Must(b, err)
	defer seed.Close()
	_, err = fixture.Import(b.Context(), into, seed, nil)
	kit.Must(b, err)
	writeBacklog(b, into, other, size)
	kit.Must(b, into.Close())
	file, err := os.OpenFile(data, os.O_RDWR, 0)
	kit.Must(b, err)
	kit.Must(b, errors.Join(file.Sync(), file.Close())) // so that the server's first commit does not have to
	return &backlog{deployment: deployment{session: s, org: own, receiver: r, server: &server{data: data}}}
}

// start starts the server, again if it runs, and returns how many milliseconds
// passed until it was ready.
func (l *backlog) start(b *testing.B) float64 {
	b.Helper()
	if l.process != nil {
		l.kill()
	}
	began := time.Now()
	v, err := l.session.serve(b.Context(), l.data, l.receiver.caFile)
	kit.Must(b, err)
	info, err := os.Stat(l.data + ".ready")
	kit.Must(b, err)
	l.server, l.readyAt = v, info.ModTime()
	return max(0, millis(l.readyAt.Sub(began)))
}

// firstReceipt waits until n webhooks came, and returns how long after the server
// was ready the first of them did.
func (l *backlog) firstReceipt(b *testing.B, n int) time.Duration {
	b.Helper()
	first, err := l.receiver.await(b.Context(), n)
	kit.Must(b, err)
	for _, came := range l.receiver.came {
		if came.Before(first) {
			first = came
		}
	}
	return max(1, first.Sub(l.readyAt))
}

func (l *backlog) accept(b *testing.B) turn {
	b.Helper()
	_, turn, err := l.session.load(b.Context(), l.target, connections, l.org.test(0))
	kit.Must(b, err)
	return turn
}

// writeBacklog writes deliveries that were attempted once, to the endpoints of an
// org in turns.
func writeBacklog(b *testing.B, into store.Store, o *org, size int) {
	b.Helper()
	var endpoints []store.Endpoint
	kit.Must(b, into.View(b.Context(), func(tx store.Tx) error {
		for i := range o.urls {
			e, err := tx.Endpoint(o.id(), o.endpointID(i))
			if err != nil {
				return err
			}
			endpoints = append(endpoints, e)
		}
		return nil
	}))
	kit.Must(b, writeRetries(b.Context(), into, endpoints, size))
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
