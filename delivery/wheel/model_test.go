package wheel

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"teamdata/e2e/kit"
)

// seeds are those of random histories that are compared with the model.
var seeds = kit.NewSeeds("seeds", 300)

// model is the wheel as a plain list. Dues are kept as they were given, so the
// rounding is checked too.
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
	if i := m.index(id); i < 0 || wholeMS(due) < wholeMS(m.list[i].due) {
		m.set(id, due)
	}
}

func wholeMS(due time.Time) int64 {
	return due.Add(time.Millisecond - 1).UnixMilli()
}

func (m *model) expire(now time.Time) []int {
	var out []modelEntry
	m.list = slices.DeleteFunc(m.list, func(e modelEntry) bool {
		expired := wholeMS(e.due) <= now.UnixMilli()
		if expired {
			out = append(out, e)
		}
		return expired
	})
	slices.SortStableFunc(out, func(a, b modelEntry) int { return cmp.Compare(wholeMS(a.due), wholeMS(b.due)) })
	var ids []int
	for _, e := range out {
		ids = append(ids, e.id)
	}
	return ids
}

// span is a random distance in time: often at the edge of a slot, sometimes
// years.
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
	w   *Wheel[int]
	m   model
}

func newHistory(t *testing.T, seed uint64) *history {
	r := rand.New(rand.NewPCG(seed, 1))
	now := epoch.Add(span(r))
	return &history{t: t, r: r, now: now, w: New[int](now)}
}

func (h *history) step() {
	id, due := h.r.IntN(40), h.now.Add(span(h.r))
	if h.r.IntN(6) == 0 {
		due = h.now.Add(-span(h.r))
	}
	switch h.r.IntN(14) {
	default:
		h.w.Set(id, due)
		h.m.set(id, due)
	case 0:
		h.w.SetEarlier(id, due)
		h.m.setEarlier(id, due)
	case 1:
		h.w.Remove(id)
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
	var got []int
	h.w.Expire(now, func(id int) { got = append(got, id) })
	if want := h.m.expire(now); !slices.Equal(got, want) {
		h.t.Fatalf("Expire(%v) handed out %v, want %v", now, got, want)
	}
}

func (h *history) expireNext() {
	if next, ok := h.w.Next(); ok && next.After(h.now) {
		h.expire(next)
	}
}

func (h *history) check() {
	if h.w.Len() != len(h.m.list) {
		h.t.Fatalf("Len = %d, want %d", h.w.Len(), len(h.m.list))
	}
	next, ok := h.w.Next()
	if ok != (len(h.m.list) > 0) {
		h.t.Fatalf("Next found %v with %d entries", ok, len(h.m.list))
	}
	for _, e := range h.m.list {
		if next.UnixMilli() > wholeMS(e.due) {
			h.t.Fatalf("Next = %v, after %d's due %v", next, e.id, e.due)
		}
	}
}

// drain follows Next alone, as a dispatcher does, and counts the wakes.
func (h *history) drain() {
	h.expire(h.now)
	for limit := levels * h.w.Len(); h.w.Len() > 0; limit-- {
		next, _ := h.w.Next()
		if limit == 0 || !next.After(h.now) {
			h.t.Fatalf("woken for nothing at %v, Next = %v", h.now, next)
		}
		h.expire(next)
	}
}
