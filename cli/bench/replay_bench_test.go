package bench

import (
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

var (
	replayed     = flag.Int("replayed", 20_000, "how many failed deliveries are replayed in BenchmarkBesideReplay")
	besideReplay = flag.Duration("beside", time.Second, "how long BenchmarkBesideReplay measures")
)

// BenchmarkBesideReplay sends to healthy endpoints, first while nothing else happens,
// then while a job replays the failed deliveries of another endpoint, as fast as its
// receiver acknowledges them. It reports how long a webhook takes to endpoints of the
// job's org and of another one, and how much longer than without the job: of several
// rounds the one whose ratio is the middle one. With the size that is promised:
//
//	go test ./cli/bench -run '^$' -bench BesideReplay -benchtime 5x -args -replayed 100000 -beside 5s
func BenchmarkBesideReplay(b *testing.B) {
	rounds := map[string][]Round{}
	done := 0
	for b.Loop() {
		s := benchSession(b)
		l := s.newReplaying(b)
		alone := l.measure(b)
		_, err := l.stop()
		kit.Must(b, err)
		l.startJob(b)
		beside := l.measure(b)
		n := l.failing.count()
		if n == 0 || n >= *replayed {
			b.Fatalf("%d of %d were replayed meanwhile", n, *replayed)
		}
		done += n
		for i, org := range []string{"same-org", "other-org"} {
			rounds[org] = append(rounds[org], Round{Value: millis(beside[i]), Baseline: millis(alone[i])})
		}
		s.cleanUp()
	}
	for org, rounds := range rounds {
		f := compared("", "ms", "", "", rounds)
		b.ReportMetric(*f.Baseline, org+"-p99-alone-ms")
		b.ReportMetric(f.Value, org+"-p99-ms")
		b.ReportMetric(*f.Ratio, org+"-p99-ratio")
	}
	b.ReportMetric(float64(done)/float64(b.N), "replayed/op")
	b.ReportMetric(0, "ns/op")
}

// replaying is a deployment in which deliveries of one endpoint failed.
type replaying struct {
	deployment
	failing *receiver // of that endpoint
	other   *org      // another one than deployment.org, which has that endpoint
}

func (s *session) newReplaying(b *testing.B) *replaying {
	b.Helper()
	l := &replaying{deployment: deployment{session: s, server: &server{data: s.path("replay.db")}}}
	var all []string
	for _, r := range []**receiver{&l.receiver, &l.failing} {
		var err error
		*r, err = s.newReceiver(b.Context(), "replay.ca")
		kit.Must(b, err)
		ca, err := os.ReadFile((*r).caFile)
		kit.Must(b, err)
		all = append(all, string(ca))
	}
	kit.Must(b, os.WriteFile(l.receiver.caFile, []byte(all[0]+all[1]), 0o600))
	healthy, err := l.receiver.listen(2, false)
	kit.Must(b, err)
	failed, err := l.failing.listen(1, false)
	kit.Must(b, err)
	l.org, l.other = newOrg(0, 0, failed[0], healthy[0]), newOrg(1, 0, healthy[1])
	kit.Must(b, writeSeed(l.data+".json", l.org, l.other))
	l.write(b, func(into *boltstore.Store) error {
		seed, err := os.Open(l.data + ".json")
		if err != nil {
			return err
		}
		defer seed.Close()
		if _, err := fixture.Import(b.Context(), into, seed, nil); err != nil {
			return err
		}
		return inLots(b.Context(), into, *replayed, l.writeFailed)
	})
	return l
}

// write writes to the data while no server has it.
func (l *replaying) write(b *testing.B, fn func(into *boltstore.Store) error) {
	b.Helper()
	into, err := boltstore.Open(l.data, boltstore.Options{})
	kit.Must(b, err)
	kit.Must(b, errors.Join(fn(into), into.Close()))
}

// writeFailed writes a delivery that has failed.
func (l *replaying) writeFailed(tx store.Tx, i int) error {
	e, err := tx.Endpoint(l.org.id(), l.org.endpointID(0))
	if err != nil {
		return err
	}
	event, d := newRetry(tx, &e, time.Time{})
	d.State, d.FinishedAt = store.StateFailed, d.CreatedAt
	return tx.AddEvent(event, []store.Delivery{d})
}

// startJob starts the job that retries them, whose server is started by measure.
func (l *replaying) startJob(b *testing.B) {
	b.Helper()
	l.write(b, func(into *boltstore.Store) error {
		return into.Update(b.Context(), store.All, func(tx store.Tx) error {
			_, err := store.StartReplay(tx, "", store.ReplayJob{OrgID: l.org.id(), Total: *replayed})
			return err
		})
	})
}

// measure starts the server, and returns the 99th percentile to the healthy endpoints of
// the org and of the other one.
func (l *replaying) measure(b *testing.B) (p99 [2]time.Duration) {
	b.Helper()
	var err error
	l.server, err = l.session.serve(b.Context(), l.data, l.receiver.caFile)
	kit.Must(b, err)
	kit.Must(b, l.connect(b.Context()))
	requests := []string{l.org.test(1), l.other.test(0)}
	_, err = l.openLoop(b.Context(), len(requests), healthyEvery, func(k int) string { return requests[k] }) // connections are made
	kit.Must(b, err)
	n, before := max(2, int(*besideReplay/healthyEvery)), l.receiver.count()
	samples, err := l.sendEvenly(b.Context(), n, healthyEvery, func(k int) string { return requests[k%2] })
	kit.Must(b, err)
	_, err = l.receiver.await(b.Context(), before+n)
	kit.Must(b, err)
	for i := range p99 {
		var of []sample
		for k := i; k < len(samples); k += 2 {
			of = append(of, samples[k])
		}
		p99[i] = percentile(l.receiver.delays(of).fromRequest, 99)
	}
	return p99
}
