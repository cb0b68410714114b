package ratelimit

import (
	"math/rand/v2"
	"testing"
	"time"
)

// model is the rule in its plainest form: every acceptance ever, counted anew
// for each request.
type model struct {
	limit    int
	window   time.Duration
	now      time.Duration
	accepted map[int][]time.Duration
}

func (m *model) take(id int, now time.Duration) Decision {
	m.now = max(m.now, now)
	var inside []time.Duration
	for _, t := range m.accepted[id] {
		if m.now < t+m.window {
			inside = append(inside, t)
		}
	}
	d := Decision{OK: len(inside) < m.limit, Limit: m.limit}
	if d.OK {
		m.accepted[id] = append(m.accepted[id], m.now)
		inside = append(inside, m.now)
	}
	d.Remaining = m.limit - len(inside)
	d.Reset = inside[0] + m.window - m.now
	if d.Remaining == 0 {
		d.RetryAfter = d.Reset
	}
	return d
}

func TestModel(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		limit := []int{1, 2, 3, 7, 100}[r.IntN(5)]
		m := &model{limit: limit, window: time.Minute, now: -time.Hour, accepted: map[int][]time.Duration{}}
		l := New[int](limit, time.Minute, 8)
		var now, retry time.Duration
		for i := range 600 {
			now += step(r, limit, retry)
			id := r.IntN(3)
			got, want := l.Take(id, at(now)), m.take(id, now)
			if got != want {
				t.Fatalf("seed %d, step %d, limit %d, at %v: %+v, want %+v", seed, i, limit, now, got, want)
			}
			retry = got.RetryAfter
		}
	}
}

// step picks how far the clock moves: mostly so that the window stays about
// full, often to the very nanosecond at which something changes.
func step(r *rand.Rand, limit int, retry time.Duration) time.Duration {
	switch r.IntN(12) {
	case 0:
		return retry
	case 1:
		return max(0, retry-1)
	case 2:
		return time.Minute
	case 3:
		return time.Minute - 1
	case 4:
		return -time.Duration(r.Int64N(int64(time.Second)))
	case 5, 6, 7:
		return 0
	default:
		return time.Duration(r.Int64N(int64(time.Minute) / int64(limit)))
	}
}
