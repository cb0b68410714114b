package store

import (
	"errors"
	"testing"
	"time"
)

func filterOf(t *testing.T, pairs ...string) (DeliveryFilter, error) {
	t.Helper()
	values := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return ParseDeliveryFilter(func(name string) string { return values[name] }, nil)
}

func mustFilter(t *testing.T, pairs ...string) DeliveryFilter {
	t.Helper()
	f, err := filterOf(t, pairs...)
	if err != nil {
		t.Fatalf("%q: %v", pairs, err)
	}
	return f
}

// TestFilterMatches has one delivery, and filters that select it and that don't.
func TestFilterMatches(t *testing.T) {
	at := time.Date(2026, 11, 24, 5, 30, 11, 417e6, time.UTC)
	d := Delivery{
		ID: "whd_1", EventID: "evt_1", EndpointID: "whe_1", EventType: "member.added",
		State: StateRetrying, Attempts: 1, CreatedAt: at.Add(-time.Hour),
		History: []Attempt{{StartedAt: at.Add(-time.Second), EndedAt: at.Add(300 * time.Microsecond), Status: 503, Reason: "it answered 503"}},
	}
	enabled, disabled := &Endpoint{ID: "whe_1"}, &Endpoint{ID: "whe_1", DisabledAt: at}
	for _, c := range []struct {
		pairs         []string
		matches, held bool // at an enabled endpoint, at a disabled one
	}{
		{nil, true, true},
		{[]string{"endpoint", "whe_1"}, true, true},
		{[]string{"endpoint", "whe_2"}, false, false},
		{[]string{"state", "waiting"}, true, true},
		{[]string{"state", "retrying"}, true, false},
		{[]string{"state", "held"}, false, true},
		{[]string{"state", "unsuccessful"}, true, true},
		{[]string{"state", "failed"}, false, false},
		{[]string{"state", "acknowledged"}, false, false},
		{[]string{"type", "member.added"}, true, true},
		{[]string{"type", "member.*"}, true, true},
		{[]string{"type", "member"}, false, false},
		{[]string{"status", "503"}, true, true},
		{[]string{"status", "5XX"}, true, true},
		{[]string{"status", "500"}, false, false},
		{[]string{"status", "4xx"}, false, false},
		{[]string{"status", "none"}, false, false},
		{[]string{"q", "whd_1"}, true, true},
		{[]string{"q", " evt_1 "}, true, true},
		{[]string{"q", "whd_2"}, false, false},
		{[]string{"since", "2026-11-24 05:30:11", "until", "2026-11-24 05:30:11"}, true, true},
		{[]string{"since", "24 Nov 2026, 05:30:11", "until", "2026-11-24T05:30"}, true, true},
		{[]string{"since", "24 Nov 2026, 05:30:11 UTC"}, true, true},
		{[]string{"since", "2026-11-24 05:30:12"}, false, false},
		{[]string{"until", "2026-11-24 05:30:10"}, false, false},
		{[]string{"until", "2026-11-24T05:30:11.417Z"}, false, false},
		{[]string{"since", "2026-11-24T05:30:11.417Z", "until", "2026-11-24T05:30:11.418Z"}, true, true},
	} {
		f := mustFilter(t, c.pairs...)
		if f.Matches(&d, enabled) != c.matches || f.Matches(&d, disabled) != c.held {
			t.Errorf("%q: %v, held %v", c.pairs, f.Matches(&d, enabled), f.Matches(&d, disabled))
		}
		if again := mustFilter(t, f.Values()...); again != f {
			t.Errorf("%q: %+v, parsed again: %+v", c.pairs, f, again)
		}
	}
}

// TestFilterStates: a delivery that is yet to be attempted again was not unsuccessful,
// and is not found by a status that it never got.
func TestFilterStates(t *testing.T) {
	d := Delivery{State: StatePending, CreatedAt: time.UnixMilli(1000), DueAt: time.UnixMilli(1000)}
	for pairs, want := range map[[2]string]bool{
		{"state", "pending"}: true, {"state", "waiting"}: true, {"state", "unsuccessful"}: false, {"status", "none"}: false,
		{"since", "1970-01-01T00:00:01Z"}: true, {"since", "1970-01-01T00:00:02Z"}: false,
	} {
		if f := mustFilter(t, pairs[0], pairs[1]); f.Matches(&d, &Endpoint{}) != want {
			t.Errorf("%s: not %v", pairs, want)
		}
	}
}

// TestFilterErrors: each error names its field.
func TestFilterErrors(t *testing.T) {
	for _, pairs := range [][]string{
		{"endpoint", "a/b"}, {"state", "Waiting"}, {"status", "50"}, {"status", "0xx"}, {"status", "6000"}, {"status", "-50"}, {"status", "xx"},
		{"since", "yesterday"}, {"since", "1969-12-31 23:59:59"}, {"until", "2026-13-01 00:00"}, {"q", "mem_1"}, {"q", "whd_1 x"},
		{"until", "2026-01-01 00:00", "since", "2026-01-02 00:00"},
	} {
		_, err := filterOf(t, pairs...)
		var e *Error
		if !errors.As(err, &e) || e.Field != pairs[0] || e.Code != CodeBadRequest {
			t.Errorf("%q: %v", pairs, err)
		}
	}
}
