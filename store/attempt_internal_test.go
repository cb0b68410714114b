package store

import (
	"testing"
	"time"
)

func TestAcknowledged(t *testing.T) {
	for _, c := range []struct {
		status int
		reason string
		want   bool
	}{
		{0, "", false}, {199, "", false}, {200, "", true}, {204, "", true}, {299, "", true}, {300, "", false},
		{200, "the answer was cut off", false}, {500, "it answered 500", false},
	} {
		a := Attempt{Status: c.status, Reason: c.reason}
		if a.Acknowledged() != c.want {
			t.Errorf("status %d with the reason %q: acknowledged is %v", c.status, c.reason, !c.want)
		}
	}
}

func TestRoundUp(t *testing.T) {
	at := time.UnixMilli(1_790_000_000_123).UTC()
	for past, want := range map[time.Duration]time.Duration{
		0: 0, 1: time.Millisecond, time.Millisecond - 1: time.Millisecond, time.Millisecond: time.Millisecond,
	} {
		if got := roundUp(at.Add(past)); !got.Equal(at.Add(want)) {
			t.Errorf("%v past a millisecond is rounded to %v past it", past, got.Sub(at))
		}
	}
}

func TestDeliveryStates(t *testing.T) {
	type place struct {
		list DeliveryList
		ms   uint64
	}
	places := map[DeliveryState]place{
		StatePending: {ListWaiting, 5}, StateRetrying: {ListWaiting, 5}, StateAcknowledged: {ListAcknowledged, 7}, StateFailed: {ListFailed, 7},
	}
	names := map[DeliveryState]string{
		StatePending: "pending", StateRetrying: "retrying", StateAcknowledged: "acknowledged", StateFailed: "failed",
		StateHeld: "held", 0: "unknown", 99: "unknown",
	}
	due, finished := time.UnixMilli(5), time.UnixMilli(7)
	disabled := Endpoint{DisabledAt: due}
	for state, name := range names {
		if state.String() != name {
			t.Errorf("state %d is called %v", state, state)
		}
		d := Delivery{ID: "whd_1", State: state, DueAt: due, FinishedAt: finished}
		if got, at := d.Position(); places[state] != (place{}) && places[state] != (place{got, at.Ms}) || at.ID != d.ID {
			t.Errorf("%v is in list %d at %v", state, got, at)
		}
		if held := d.StateAt(&disabled) == StateHeld; held != (state.Waiting() || state == StateHeld) {
			t.Errorf("%v at a disabled endpoint is %v", state, d.StateAt(&disabled))
		}
		if d.StateAt(&Endpoint{}) != state {
			t.Errorf("%v at an endpoint is %v", state, d.StateAt(&Endpoint{}))
		}
	}
}
