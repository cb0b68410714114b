package delivery

import (
	"net/http"
	"testing"

	"teamdata/store"
)

// What an attempt does to its endpoint's window.
func TestWindow(t *testing.T) {
	for _, test := range []struct {
		attempt      store.Attempt
		before, want int // of at most 20
	}{
		{store.Attempt{Status: 204}, 4, 8},
		{store.Attempt{Status: 204}, 16, 20},
		{store.Attempt{Status: 500, Reason: "x"}, 16, 8},
		{store.Attempt{Reason: "x"}, 16, 8},
		{store.Attempt{Reason: "x"}, 1, 1},
		{store.Attempt{Reason: "x", TimedOut: true}, 16, 1},
	} {
		q := endpointQueue{window: test.before, inFlight: 1}
		if q.finish(&test.attempt, 20); q.window != test.want || q.inFlight != 0 || q.healthy() != (test.want > 1) {
			t.Errorf("%+v: from %d the window becomes %d, not %d", test.attempt, test.before, q.window, test.want)
		}
	}
}

// An endpoint that answers 500 for long gets one attempt at a time, like a new
// one; once it acknowledges again it gets as many as before.
func TestProbation(t *testing.T) {
	env := newEnv(t)
	r, other := newHeld(t), newReceiver(t, nil)
	roots := r.roots()
	roots.AddCert(other.Certificate())
	e, clock := env.endpoint(r.URL), env.endpoint(other.URL)
	env.sendTests([]string{e.ID}, 60)
	const window = 8
	stop := env.run(Config{RootCAs: roots, PerEndpoint: window})
	r.await(t, 1)
	for n := 1; n < window; n *= 2 { // 1, 2, 4: with each acknowledgement two more
		r.answer(n, http.StatusNoContent)
		r.await(t, 2*n)
	}
	env.checkNoMore(r, clock, "is healthy")

	r.answer(window, http.StatusInternalServerError)
	r.await(t, 1)
	env.checkNoMore(r, clock, "is on probation")
	r.answer(1, http.StatusInternalServerError)
	r.await(t, 1)
	env.checkNoMore(r, clock, "still is on probation")

	for n := 1; n < window; n *= 2 {
		r.answer(n, http.StatusNoContent)
		r.await(t, 2*n)
	}
	env.checkNoMore(r, clock, "is healthy again")
	stop()
}

// checkNoMore sees to it that nothing more comes to a receiver while another
// gets delivery after delivery.
func (env *env) checkNoMore(r *held, clock store.Endpoint, when string) {
	env.Helper()
	for range 10 {
		env.awaitState(env.sendTest(clock.ID).ID, store.StateAcknowledged)
	}
	if n := len(r.got); n > 0 {
		env.Fatalf("%d attempts too many are in flight when it %s", n, when)
	}
}
