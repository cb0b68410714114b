package storetest

import (
	"context"
	"maps"
	"slices"
	"time"

	"teamdata/store"
)

// dispatch claims deliveries of an endpoint, attempts some of them, and releases
// some that were claimed before.
func (h *history) dispatch() {
	h.releaseSome()
	numbers := slices.Sorted(maps.Keys(h.oracle.given)) // those of removed ones, too
	if len(numbers) == 0 {
		return
	}
	number := pick(h, numbers)
	if h.IntN(8) == 0 {
		number |= store.FirstPull // of which nothing is claimed
	}
	limit, now := 1+h.IntN(4), h.Clock.Now()
	if h.IntN(3) == 0 {
		now = now.Add(time.Hour)
	}
	h.note("claim %d of endpoint %d at %v", limit, number, now)
	want := h.oracle.claim(number, now, limit, h.claimed)
	got, err := h.Claim(context.Background(), number, now, limit)
	h.Code("claim", err, "")
	got.Next = got.Next.UTC()
	want.Until, want.Fence = got.Until, got.Fence
	want.Again = want.Again || got.Again // an update that changed nothing counts, too
	h.Equal("claims", got, want)
	for _, c := range got.Claims {
		id := c.Delivery.ID
		h.claimed[id] = c.Delivery
		if h.IntN(2) == 0 {
			h.transact(&transaction{operations: []operation{{"attempt of " + id, h.attemptOf(id)}}})
		}
	}
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
