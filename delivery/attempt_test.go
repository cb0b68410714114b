package delivery

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// States, Delivery: any 2xx acknowledges; anything else is retried, with the
// same id and body and a fresh timestamp, until the schedule is used up.
func TestRetriesUntilTheScheduleIsUsedUp(t *testing.T) {
	t.Parallel()
	env := newEnv(t)
	r := newReceiver(t, status(http.StatusInternalServerError))
	schedule := []time.Duration{time.Millisecond, time.Millisecond, 1100 * time.Millisecond, time.Millisecond, time.Millisecond}
	env.run(Config{RootCAs: r.roots(), Schedule: schedule})
	e := env.endpoint(r.URL)
	d := env.sendTest(e.ID)

	var requests []received
	for range 6 {
		requests = append(requests, r.next(t))
	}
	if d := env.awaitState(d.ID, store.StateFailed); d.Attempts != 6 {
		t.Errorf("%d attempts were counted", d.Attempts)
	}
	for i, got := range requests {
		verify(t, e.Secret, got)
		if got.header.Get("webhook-id") != d.ID || string(got.body) != string(requests[0].body) {
			t.Errorf("attempt %d has another id or body", i+1)
		}
		if i > 0 && got.at.Sub(requests[i-1].at) < schedule[i-1] {
			t.Errorf("attempt %d came %s after the one before, too early", i+1, got.at.Sub(requests[i-1].at))
		}
	}
	if requests[2].header.Get("webhook-timestamp") == requests[3].header.Get("webhook-timestamp") {
		t.Error("attempts a second apart carry the same timestamp")
	}
	if len(r.got) > 0 {
		t.Error("a failed delivery was sent again")
	}
}

// The contract's schedule to the minute, in no time: 6 attempts at 0, 1, 6, 31,
// 156 and 781 minutes.
func TestTheContractsSchedule(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		start := time.Now()
		var at []time.Duration
		d := New(env.store, Config{})
		d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
			at = append(at, time.Since(start))
			<-time.After(14 * time.Second) // the next is due after the attempt's end
			return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Reason: "it is off"}, "connect"
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx, ctx) }()
		sent := env.sendTest(env.endpoint("https://receiver.example/").ID)
		<-time.After(24 * time.Hour) // of the bubble
		cancel()
		kit.Must(t, <-ended)
		if d := env.delivery(sent.ID); d.State != store.StateFailed {
			t.Errorf("the delivery is %s", d.State)
		}
		want := []time.Duration{0, 1, 6, 31, 156, 781}
		if len(at) != len(want) {
			t.Fatalf("attempts at %v", at)
		}
		for i := range want {
			due := want[i]*time.Minute + time.Duration(i)*14*time.Second
			if early := due - at[i]; early > 0 || -early > time.Second {
				t.Errorf("attempt %d came at %s, not within a second after %s", i+1, at[i], due)
			}
		}
		env.store.Close()
	})
}

// A restart resumes where it stopped: what is overdue goes out at once, what
// was in flight is sent again.
func TestRestartResumes(t *testing.T) {
	env := newEnv(t)
	hang := make(chan struct{})
	var hanging atomic.Bool
	hanging.Store(true)
	r := newReceiver(t, func(_ http.ResponseWriter, q *http.Request) {
		if hanging.Load() {
			select {
			case <-hang:
			case <-q.Context().Done():
			}
		}
	})
	stop := env.run(Config{RootCAs: r.roots()})
	d := env.sendTest(env.endpoint(r.URL).ID)
	first := r.next(t)
	stop() // cuts the attempt off: it does not count
	if d := env.delivery(d.ID); d.State != store.StatePending || d.Attempts != 0 {
		t.Fatalf("after the stop the delivery is %s with %d attempts", d.State, d.Attempts)
	}
	close(hang)
	hanging.Store(false)
	env.store.Close()
	env.open()
	env.run(Config{RootCAs: r.roots()})
	if second := r.next(t); second.header.Get("webhook-id") != first.header.Get("webhook-id") {
		t.Error("the attempt made again has another id")
	}
	env.awaitState(d.ID, store.StateAcknowledged)
}

// A graceful stop waits for what is in flight.
func TestStopWaitsForAttempts(t *testing.T) {
	env := newEnv(t)
	answer := make(chan struct{})
	r := newReceiver(t, func(http.ResponseWriter, *http.Request) { <-answer })
	d := New(env.store, Config{RootCAs: r.roots()})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx, context.Background()) }()
	sent := env.sendTest(env.endpoint(r.URL).ID)
	r.next(t)
	cancel()
	close(answer)
	kit.Must(t, <-ended)
	if d := env.delivery(sent.ID); d.State != store.StateAcknowledged {
		t.Errorf("after the stop the delivery is %s", d.State)
	}
}

// A delivery that is replayed when its outcome is committed, and before it is
// released, is sent again all the same.
func TestReplayBeforeTheRelease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		r := &switchedReceiver{}
		r.on()
		d := New(&replaying{Store: env.store}, Config{})
		d.send = r.send
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx, ctx) }()
		e := env.endpoint("https://receiver.example/")
		env.sendTest(e.ID) // so that more than one may be in flight from now on
		<-time.After(time.Minute)
		sent := env.sendTest(e.ID)
		<-time.After(time.Minute)
		if n := len(r.seen()); n != 3 {
			t.Errorf("it was sent %d times", n-1)
		}
		if d := env.delivery(sent.ID); d.State != store.StateAcknowledged {
			t.Errorf("it is %s", d.State)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		env.store.Close()
	})
}

// An acknowledgement looks for nothing more to send if nothing is left, although
// there were others in flight when the last became due.
func TestAcknowledgementsClaimNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		env := newEnv(t)
		s, answers := &countedClaims{Store: env.store}, make(chan struct{})
		d := New(s, Config{})
		d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
			<-answers
			return store.Attempt{StartedAt: time.Now(), EndedAt: time.Now(), Status: http.StatusOK}, "acknowledged"
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.Run(ctx, ctx) }()
		e := env.endpoint("https://receiver.example/")
		env.sendTest(e.ID)
		answers <- struct{}{} // more than one may be in flight from now on
		synctest.Wait()
		env.sendTest(e.ID)
		synctest.Wait()
		env.sendTest(e.ID)
		synctest.Wait()
		before := s.claims.Load()
		answers <- struct{}{}
		answers <- struct{}{}
		synctest.Wait()
		if n := s.claims.Load() - before; before < 3 || n > 0 {
			t.Errorf("%d claims after %d", n, before)
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		env.store.Close()
	})
}

// countedClaims is a store that counts claims.
type countedClaims struct {
	store.Store
	claims atomic.Int32
}

func (s *countedClaims) Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (store.Claims, error) {
	s.claims.Add(1)
	return s.Store.Claim(ctx, endpoint, now, limit)
}

// A stop during the start is no error.
func TestStopBeforeTheStart(t *testing.T) {
	env := newEnv(t)
	env.sendTest(env.endpoint("https://receiver.example/").ID)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := New(env.store, Config{}).Run(ctx, ctx); err != nil {
		t.Error(err)
	}
}

// replaying is a store in which the second delivery that is about to be released is
// replayed.
type replaying struct {
	store.Store
	released int
}

func (s *replaying) Release(id string) {
	if s.released++; s.released == 2 {
		s.Update(context.Background(), store.All, func(tx store.Tx) error {
			_, err := store.Replay(tx, "", testOrg, id)
			return err
		})
		<-time.After(time.Second) // the dispatcher looks for it meanwhile
	}
	s.Store.Release(id)
}

// An attempt is reported with its org, its endpoint, its outcome and how long it
// took.
func TestOnAttempt(t *testing.T) {
	env := newEnv(t)
	r := newReceiver(t, nil)
	d := New(env.store, Config{RootCAs: r.roots()})
	reports := make(chan string, 1)
	d.OnAttempt(func(org, endpoint, outcome string, took time.Duration) {
		if took <= 0 {
			t.Errorf("it took %s", took)
		}
		reports <- org + " " + endpoint + " " + outcome
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- d.Run(ctx, t.Context()) }()
	e := env.endpoint(r.URL)
	env.sendTest(e.ID)
	if got, want := <-reports, testOrg+" "+e.ID+" acknowledged"; got != want {
		t.Errorf("reported %s, not %s", got, want)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The outcome of an attempt that timed out may wait for another commit to share;
// others free a place in the endpoint's window, and don't wait.
func TestOutcomesOfTimeoutsArePatient(t *testing.T) {
	s := &notedPatience{Store: newEnv(t).store}
	d := New(s, Config{})
	for _, timedOut := range []bool{false, true} {
		d.send = func(context.Context, *store.Endpoint, *store.Claim) (store.Attempt, string) {
			return store.Attempt{TimedOut: timedOut}, "timeout"
		}
		d.attempt(job{ctx: t.Context(), claims: &store.Claims{}, claim: &store.Claim{}})
		if s.patient != timedOut {
			t.Errorf("timed out: %t, patient: %t", timedOut, s.patient)
		}
	}
}

// notedPatience is a store that notes whether the last update was patient.
type notedPatience struct {
	store.Store
	patient bool
}

func (s *notedPatience) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	s.patient = scope.Patient
	return s.Store.Update(ctx, scope, fn)
}

// An attempt that a stop cuts off does not count.
func TestOnAttemptAfterStop(t *testing.T) {
	d := New(newEnv(t).store, Config{})
	d.OnAttempt(func(_, _, outcome string, _ time.Duration) {
		t.Errorf("an attempt with the outcome %s counts", outcome)
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	d.attempt(job{ctx: ctx, claims: &store.Claims{Endpoint: store.Endpoint{URL: "https://127.0.0.1:1", Secret: store.NewEndpointSecret()}}, claim: &store.Claim{}})
}
