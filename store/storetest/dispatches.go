package storetest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"teamdata/store"
)

func (h *history) createEndpoint() operation {
	e := newEndpoint(h.org(), pick(h, h.names.endpoints))
	e.Events = h.selection()
	return op(createEndpoint(e), "create endpoint %q in %q for %q", e.ID, e.OrgID, e.Events)
}

func (h *history) sendTest() operation {
	org, id := h.org(), pick(h, h.names.endpoints)
	return op(func(tx store.Tx) error {
		_, err := store.SendTest(tx, org, id)
		return err
	}, "send a test to %q of %q", id, org)
}

func (h *history) upload() operation {
	f := store.File{OrgID: h.org(), Name: "n", ContentType: "t"}
	return op(func(tx store.Tx) error {
		_, err := store.UploadFile(tx, "", f)
		return err
	}, "upload a file to %q", f.OrgID)
}

// someDelivery is one that may be there.
func (h *history) someDelivery() string {
	if len(h.names.deliveries) == 0 {
		return "whd_none"
	}
	return pick(h, h.names.deliveries)
}

func (h *history) recordAttempt() operation { return h.attemptOf(h.someDelivery()) }

func (h *history) attemptOf(id string) operation {
	a := store.Attempt{StartedAt: h.Clock.Now(), EndedAt: h.Clock.Now().Add(time.Duration(h.IntN(3000)-300) * time.Microsecond)}
	if a.Status = pick(h, []int{200, 500, 0}); a.Status != 200 {
		a.Reason, a.Answer = "failed", fmt.Append(nil, h.IntN(1000))
	}
	schedule := store.DefaultRetrySchedule[:h.IntN(3)]
	return op(func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, id, a, schedule)
		return err
	}, "attempt of %s: %d, with %d retries", id, a.Status, len(schedule))
}

// useOnce uses an idempotency key, if it is not in use.
func (h *history) useOnce() operation {
	org, key, status := h.org(), pick(h, h.names.records), 200+h.IntN(300)
	return op(func(tx store.Tx) error {
		_, err := tx.IdempotencyRecord(org, key)
		if !store.IsNotFound(err) {
			return err
		}
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{
			OrgID: org, Key: key, FirstUse: tx.Now(), Answer: store.Answer{Status: status},
		})
	}, "use idempotency key %q of %q: %d", key, org, status)
}

func (h *history) expireRecords() operation {
	return op(func(tx store.Tx) error {
		_, err := tx.ExpireIdempotencyRecords(2)
		return err
	}, "expire idempotency records")
}

func (h *history) putCertificate() operation {
	pem := fmt.Sprint(h.IntN(1000))
	return op(func(tx store.Tx) error { return tx.PutCertificate("c", []byte(pem)) }, "certificate %s", pem)
}

// dispatch claims deliveries of an endpoint, attempts some of them, and releases
// some that were claimed before.
func (h *history) dispatch() {
	h.releaseSome()
	numbers := slices.Sorted(maps.Keys(h.oracle.given)) // those of removed ones, too
	if len(numbers) == 0 {
		return
	}
	number, limit, now := pick(h, numbers), 1+h.IntN(4), h.Clock.Now()
	if h.IntN(3) == 0 {
		now = now.Add(time.Hour)
	}
	h.note("claim %d of endpoint %d at %v", limit, number, now)
	want := h.oracle.claim(number, now, limit, h.claimed)
	got, err := h.Claim(context.Background(), number, now, limit)
	h.Code("claim", err, "")
	got.Next = got.Next.UTC()
	h.Equal("claims", got, want)
	for _, id := range deliveryIDs(got) {
		h.claimed[id] = true
		if h.IntN(2) == 0 {
			h.transact(&transaction{operations: []operation{h.attemptOf(id)}})
		}
	}
}

// endpointKeys are the keys of all endpoints, in the order of their numbers.
func (h *history) endpointKeys() []pair {
	return slices.SortedFunc(maps.Keys(h.oracle.endpoints), func(a, b pair) int {
		return int(h.oracle.endpoints[a].Number) - int(h.oracle.endpoints[b].Number)
	})
}

// releaseSome gives some of the claimed deliveries back, whatever became of
// them.
func (h *history) releaseSome() {
	for _, id := range slices.Sorted(maps.Keys(h.claimed)) {
		if h.IntN(2) == 0 {
			h.note("release %s", id)
			h.Release(id)
			delete(h.claimed, id)
		}
	}
}
