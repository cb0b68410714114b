package delivery

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"teamdata/store"
)

// held is a receiver that answers nothing before the test says what.
type held struct {
	*receiver
	answers chan int
}

func newHeld(t testing.TB) *held {
	h := &held{answers: make(chan int)}
	h.receiver = newReceiver(t, func(w http.ResponseWriter, q *http.Request) {
		select {
		case code := <-h.answers:
			w.WriteHeader(code)
		case <-q.Context().Done():
		}
	})
	h.got = make(chan received, 1000)
	return h
}

// answer answers n of the requests that wait.
func (h *held) answer(n, code int) {
	for range n {
		h.answers <- code
	}
}

// await waits until n more requests have come.
func (h *held) await(t testing.TB, n int) {
	t.Helper()
	for range n {
		h.next(t)
	}
}

// An org whose 50 endpoints are all busy keeps another's only one from its turn
// for no longer than a few attempts take.
func TestOrgsTakeTurns(t *testing.T) {
	b := newBench(t)
	busy, quiet := newHeld(t), newReceiver(t, nil)
	roots := busy.roots()
	roots.AddCert(quiet.Certificate())
	const endpoints, each, total = store.MaxEndpoints, 6, 4
	var busyIDs []string
	for i := range endpoints {
		busyIDs = append(busyIDs, b.endpoint(fmt.Sprintf("%s/%d", busy.URL, i)).ID)
	}
	b.sendTests(busyIDs, each)
	small := b.smallOrg(quiet.URL)
	stop := b.run(Config{RootCAs: roots, Total: total})
	had := map[string]bool{} // the endpoints that had a turn
	for len(had) < endpoints {
		had[busy.next(t).endpoint()] = true
		busy.answer(1, http.StatusInternalServerError)
	}
	b.update(func(tx store.Tx) error {
		_, err := store.SendTest(tx, small.OrgID, small.ID)
		return err
	})
	busy.answer(total, http.StatusInternalServerError) // of more than 200 that wait
	quiet.next(t)
	stop()
}

// sendTests sends n tests to each of the endpoints, in one commit.
func (b *bench) sendTests(endpointIDs []string, n int) {
	b.Helper()
	b.update(func(tx store.Tx) error {
		for i := range n * len(endpointIDs) {
			if _, err := store.SendTest(tx, testOrg, endpointIDs[i%len(endpointIDs)]); err != nil {
				return err
			}
		}
		return nil
	})
}

// endpoint is the id of the one that a test was sent to.
func (r received) endpoint() string {
	var body struct{ Data struct{ EndpointID string } }
	json.Unmarshal(r.body, &body)
	return body.Data.EndpointID
}

// smallOrg makes another org with one endpoint.
func (b *bench) smallOrg(url string) (e store.Endpoint) {
	b.Helper()
	b.update(func(tx store.Tx) (err error) {
		if _, err = store.ImportOrg(tx, store.Org{ID: "org_small", Name: "Small"}); err != nil {
			return err
		}
		e, err = store.ImportEndpoint(tx, store.Endpoint{OrgID: "org_small", URL: url, Events: []string{store.EventWebhookTest}})
		return err
	})
	return e
}

// An endpoint that answers 500 for long gets one attempt at a time, like a new
// one; once it acknowledges again it gets as many as before.
func TestProofIsLostAndGained(t *testing.T) {
	b := newBench(t)
	r, other := newHeld(t), newReceiver(t, nil)
	roots := r.roots()
	roots.AddCert(other.Certificate())
	e, clock := b.endpoint(r.URL), b.endpoint(other.URL)
	b.sendTests([]string{e.ID}, 60)
	const window = 8
	stop := b.run(Config{RootCAs: roots, PerEndpoint: window})
	r.await(t, 1)
	for n := 1; n < window; n *= 2 { // 1, 2, 4: with each acknowledgement two more
		r.answer(n, http.StatusNoContent)
		r.await(t, 2*n)
	}
	b.checkNoMore(r, clock, "has its proof")

	r.answer(window, http.StatusInternalServerError)
	r.await(t, 1)
	b.checkNoMore(r, clock, "has lost its proof")
	r.answer(1, http.StatusInternalServerError)
	r.await(t, 1)
	b.checkNoMore(r, clock, "has no proof to lose")

	for n := 1; n < window; n *= 2 {
		r.answer(n, http.StatusNoContent)
		r.await(t, 2*n)
	}
	b.checkNoMore(r, clock, "has its proof again")
	stop()
}

// checkNoMore sees to it that nothing more comes to a receiver while another
// gets delivery after delivery.
func (b *bench) checkNoMore(r *held, clock store.Endpoint, when string) {
	b.Helper()
	for range 10 {
		b.awaitState(b.sendTest(clock.ID).ID, store.StateAcknowledged)
	}
	if n := len(r.got); n > 0 {
		b.Fatalf("%d attempts too many are in flight when it %s", n, when)
	}
}
