package timers

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

var epoch = time.Date(2026, 10, 6, 0, 0, 0, 0, time.UTC)

func after(ms int64) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("handed out %q, want %q", got, want)
	}
}

func TestNeitherEarlyNorLate(t *testing.T) {
	starts := []int64{0, 1, 62, 63, 64, 4095, 4096, 1<<24 - 1}
	dues := []int64{1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 1<<18 - 1, 1 << 18, 1<<24 + 1, 400 * 24 * 3600 * 1000}
	for _, start := range starts {
		for _, due := range dues {
			at := after(start).Add(time.Duration(due) * time.Millisecond)
			h := New[string]()
			h.Set("a", at)
			wantIDs(t, h.Expire(at.Add(-time.Nanosecond)))
			wantIDs(t, h.Expire(at), "a")
			wantIDs(t, h.Expire(at.Add(time.Hour)))
		}
	}
}

func TestNextIsExact(t *testing.T) {
	h := New[string]()
	due := after(5).Add(time.Microsecond)
	h.Set("a", due)
	wantIDs(t, h.Expire(due.Add(-1)))
	next, _ := h.Next()
	if !next.Equal(due) {
		t.Fatalf("Next = %v, want %v", next, due)
	}
	wantIDs(t, h.Expire(next), "a")
}

func TestOrder(t *testing.T) {
	h := New[string]()
	for _, e := range []struct {
		id string
		ms int64
	}{{"d", 5000}, {"b", 70}, {"late2", -1}, {"e", 5000}, {"late1", -90}, {"a", 3}, {"c", 71}} {
		h.Set(e.id, after(e.ms))
	}
	wantIDs(t, h.Expire(after(5000)), "late1", "late2", "a", "b", "c", "d", "e")
}

func TestSetReplacesAndSetEarlierKeeps(t *testing.T) {
	h := New[string]()
	h.Set("a", after(10))
	h.Set("a", after(500))
	h.SetEarlier("a", after(900))
	h.SetEarlier("b", after(300))
	h.SetEarlier("b", after(200))
	if h.Len() != 2 {
		t.Fatalf("Len = %d, want 2", h.Len())
	}
	wantIDs(t, h.Expire(after(199)))
	wantIDs(t, h.Expire(after(200)), "b")
	wantIDs(t, h.Expire(after(499)))
	wantIDs(t, h.Expire(after(500)), "a")
}

func TestRemove(t *testing.T) {
	h := New[string]()
	for i, id := range []string{"a", "b", "c", "late"} {
		h.Set(id, after(int64(1-i/3*2)))
	}
	for _, id := range []string{"b", "late", "a", "nobody"} {
		h.Remove(id)
	}
	wantIDs(t, h.Expire(after(1)), "c")
	if _, ok := h.Next(); ok || h.Len() != 0 {
		t.Fatalf("Len = %d and Next found something, want an empty heap", h.Len())
	}
}

func TestClockSetBack(t *testing.T) {
	h := New[string]()
	h.Set("before", after(7_200_000))
	h.Expire(after(3_600_000))
	// The clock now reads zero again, but Expire was not called since.
	h.Set("due", after(0))
	h.Set("soon", after(60_000))
	if next, _ := h.Next(); next.After(after(0)) {
		t.Fatalf("Next = %v, too late for an entry due at %v", next, after(0))
	}
	wantIDs(t, h.Expire(after(0)), "due")
	wantIDs(t, h.Expire(after(59_999)))
	wantIDs(t, h.Expire(after(60_000)), "soon")
	wantIDs(t, h.Expire(after(7_199_999)))
	wantIDs(t, h.Expire(after(7_200_000)), "before")
}

func TestAnyTimeIsCovered(t *testing.T) {
	dues := []time.Time{{}, time.Unix(-1<<62, 5), time.Unix(1<<62, 5), time.Unix(1<<40, 0), epoch}
	h := New[int]()
	for i, due := range dues {
		h.Set(i, due)
	}
	got := h.Expire(time.Unix(1<<62, 0))
	got = append(got, h.Expire(time.Unix(1<<62, 999_999_999))...)
	if want := []int{1, 0, 4, 3, 2}; !slices.Equal(got, want) {
		t.Fatalf("handed out %v, want %v", got, want)
	}
}

// A burst may not keep its memory: the heap lives as long as the server.
func TestBurstGivesMemoryBack(t *testing.T) {
	const burst = 100_000
	h := New[int]()
	before := inUse()
	for i := range burst {
		h.Set(i, after(int64(i%5000)))
	}
	full := inUse() - before
	h.Expire(after(5000))
	left := inUse() - before
	t.Logf("%d bytes an entry; %d bytes left afterwards", full/burst, left)
	if left > 100_000 {
		t.Fatalf("%d bytes are left of %d", left, full)
	}
	runtime.KeepAlive(h)
}

func inUse() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkReplace(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			h := filled(size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				h.Set(i%size, after(int64(i*7919%1_000_000)))
			}
		})
	}
}

func filled(size int) *Heap[int] {
	h := New[int]()
	for i := range size {
		h.Set(i, after(int64(i)))
	}
	return h
}

// BenchmarkRetry is one entry's life at a dispatcher: handed out, and set again
// for the next attempt, among 100,000 others.
func BenchmarkRetry(b *testing.B) {
	h := filled(100_000)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		now, _ := h.Next()
		for _, id := range h.Expire(now) {
			n++
			h.Set(id, now.Add(5*time.Minute))
		}
	}
}

func BenchmarkJumpOfYears(b *testing.B) {
	h, now := New[int](), epoch
	b.ReportAllocs()
	for b.Loop() {
		h.Set(1, now.AddDate(1, 0, 0))
		now = now.AddDate(2, 0, 0)
		if now.Year() > 200_000 {
			now = epoch
		}
		h.Expire(now)
	}
}

func BenchmarkNext(b *testing.B) {
	h := filled(100_000)
	b.ReportAllocs()
	for b.Loop() {
		h.Next()
	}
}
