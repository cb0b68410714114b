package timers

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// seeds are those of random histories that are compared with the model.
var seeds = kit.NewSeeds("seeds", 300)

// model is the heap as a plain list.
type model struct{ list []modelEntry }

type modelEntry struct {
	id  int
	due time.Time
}

func (m *model) index(id int) int {
	return slices.IndexFunc(m.list, func(e modelEntry) bool { return e.id == id })
}

func (m *model) remove(id int) {
	m.list = slices.DeleteFunc(m.list, func(e modelEntry) bool { return e.id == id })
}

func (m *model) set(id int, due time.Time) {
	m.remove(id)
	m.list = append(m.list, modelEntry{id, due})
}

func (m *model) setEarlier(id int, due time.Time) {
	if i := m.index(id); i < 0 || due.Before(m.list[i].due) {
		m.set(id, due)
	}
}

func (m *model) expire(now time.Time) []int {
	var out []modelEntry
	m.list = slices.DeleteFunc(m.list, func(e modelEntry) bool {
		expired := !e.due.After(now)
		if expired {
			out = append(out, e)
		}
		return expired
	})
	slices.SortStableFunc(out, func(a, b modelEntry) int { return a.due.Compare(b.due) })
	var ids []int
	for _, e := range out {
		ids = append(ids, e.id)
	}
	return ids
}

// span is a random distance in time: often the same as another, sometimes years.
func span(r *rand.Rand) time.Duration {
	edges := []int64{0, 1, 63, 64, 65, 4095, 4096, 4097, 1<<18 - 1, 1 << 18, 1<<18 + 1, 1 << 24, 1 << 36}
	d := time.Duration(edges[r.IntN(len(edges))]) * time.Millisecond
	switch r.IntN(4) {
	case 0:
		d = time.Duration(r.Int64N(1 << (1 + r.IntN(57))))
	case 1:
		d += time.Duration(r.Int64N(int64(3 * time.Millisecond)))
	}
	return d
}

func TestModel(t *testing.T) {
	seeds.Run(t, func(t *testing.T, seed uint64) {
		h := newHistory(t, seed)
		for range 400 {
			h.step()
		}
		h.drain()
	})
}

type history struct {
	t   *testing.T
	r   *rand.Rand
	now time.Time
	h   *Heap[int]
	m   model
}

func newHistory(t *testing.T, seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 1))
	now := epoch.Add(span(r))
	return &history{t: t, r: r, now: now, h: New[int]()}
}

func (h *history) step() {
	id, due := h.r.IntN(40), h.now.Add(span(h.r))
	if h.r.IntN(6) == 0 {
		due = h.now.Add(-span(h.r))
	}
	switch h.r.IntN(14) {
	default:
		h.h.Set(id, due)
		h.m.set(id, due)
	case 0:
		h.h.SetEarlier(id, due)
		h.m.setEarlier(id, due)
	case 1:
		h.h.Remove(id)
		h.m.remove(id)
	case 2:
		h.expire(h.now.Add(span(h.r)))
	case 3:
		h.expireNext()
	case 4:
		h.expire(h.now.Add(-span(h.r)))
	}
	h.check()
}

func (h *history) expire(now time.Time) {
	h.now = now
	got := h.h.Expire(now)
	if want := h.m.expire(now); !slices.Equal(got, want) {
		h.t.Fatalf("Expire(%v) handed out %v, want %v", now, got, want)
	}
}

func (h *history) expireNext() {
	if next, ok := h.h.Next(); ok && next.After(h.now) {
		h.expire(next)
	}
}

func (h *history) check() {
	if h.h.Len() != len(h.m.list) {
		h.t.Fatalf("Len = %d, want %d", h.h.Len(), len(h.m.list))
	}
	next, ok := h.h.Next()
	if ok != (len(h.m.list) > 0) {
		h.t.Fatalf("Next found %v with %d entries", ok, len(h.m.list))
	}
	if !ok {
		return
	}
	first := slices.MinFunc(h.m.list, func(a, b modelEntry) int { return a.due.Compare(b.due) })
	if !next.Equal(first.due) {
		h.t.Fatalf("Next = %v, and %d is due at %v", next, first.id, first.due)
	}
}

// drain follows Next alone, as a dispatcher does, and counts the wakes.
func (h *history) drain() {
	h.expire(h.now)
	for limit := h.h.Len(); h.h.Len() > 0; limit-- {
		next, _ := h.h.Next()
		if limit == 0 || !next.After(h.now) {
			h.t.Fatalf("woken for nothing at %v, Next = %v", h.now, next)
		}
		h.expire(next)
	}
}
