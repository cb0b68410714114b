package wheel

import (
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

var epoch = time.Date(2026, 10, 6, 0, 0, 0, 0, time.UTC)

func after(ms int64) time.Time { return epoch.Add(time.Duration(ms) * time.Millisecond) }

func expire(w *Wheel[string], now time.Time) []string {
	var ids []string
	w.Expire(now, func(id string) { ids = append(ids, id) })
	return ids
}

func wantIDs(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("handed out %q, want %q", got, want)
	}
}

// The starts put the digits of now at the edges of their slots.
func TestNeitherEarlyNorLate(t *testing.T) {
	starts := []int64{0, 1, 62, 63, 64, 4095, 4096, 1<<24 - 1}
	dues := []int64{1, 2, 63, 64, 65, 127, 128, 4095, 4096, 4097, 1<<18 - 1, 1 << 18, 1<<24 + 1, 400 * 24 * 3600 * 1000}
	for _, start := range starts {
		for _, due := range dues {
			at := after(start).Add(time.Duration(due) * time.Millisecond)
			w := New[string](after(start))
			w.Set("a", at)
			wantIDs(t, expire(w, at.Add(-time.Nanosecond)))
			wantIDs(t, expire(w, at), "a")
			wantIDs(t, expire(w, at.Add(time.Hour)))
		}
	}
}

func TestFractionsRoundAgainstEarly(t *testing.T) {
	w := New[string](epoch)
	w.Set("a", after(5).Add(time.Microsecond))
	wantIDs(t, expire(w, after(6).Add(-1)))
	next, _ := w.Next()
	if !next.Equal(after(6)) {
		t.Fatalf("Next = %v, want %v", next, after(6))
	}
	wantIDs(t, expire(w, next), "a")
}

func TestOrder(t *testing.T) {
	w := New[string](epoch)
	for _, e := range []struct {
		id string
		ms int64
	}{{"d", 5000}, {"b", 70}, {"late2", -1}, {"e", 5000}, {"late1", -90}, {"a", 3}, {"c", 71}} {
		w.Set(e.id, after(e.ms))
	}
	wantIDs(t, expire(w, after(5000)), "late1", "late2", "a", "b", "c", "d", "e")
}

func TestSetReplacesAndSetEarlierKeeps(t *testing.T) {
	w := New[string](epoch)
	w.Set("a", after(10))
	w.Set("a", after(500))
	w.SetEarlier("a", after(900))
	w.SetEarlier("b", after(300))
	w.SetEarlier("b", after(200))
	if w.Len() != 2 {
		t.Fatalf("Len = %d, want 2", w.Len())
	}
	wantIDs(t, expire(w, after(199)))
	wantIDs(t, expire(w, after(200)), "b")
	wantIDs(t, expire(w, after(499)))
	wantIDs(t, expire(w, after(500)), "a")
}

func TestRemove(t *testing.T) {
	w := New[string](epoch)
	for i, id := range []string{"a", "b", "c", "late"} {
		w.Set(id, after(int64(1-i/3*2)))
	}
	for _, id := range []string{"b", "late", "a", "nobody"} {
		w.Remove(id)
	}
	wantIDs(t, expire(w, after(1)), "c")
	if _, ok := w.Next(); ok || w.Len() != 0 {
		t.Fatalf("Len = %d and Next found something, want an empty wheel", w.Len())
	}
}

func TestClockSetBack(t *testing.T) {
	w := New[string](epoch)
	w.Set("before", after(7_200_000))
	expire(w, after(3_600_000))
	// The clock now reads zero again, but Expire was not called since.
	w.Set("due", after(0))
	w.Set("soon", after(60_000))
	if next, _ := w.Next(); next.After(after(0)) {
		t.Fatalf("Next = %v, too late for an entry due at %v", next, after(0))
	}
	wantIDs(t, expire(w, after(0)), "due")
	wantIDs(t, expire(w, after(59_999)))
	wantIDs(t, expire(w, after(60_000)), "soon")
	wantIDs(t, expire(w, after(7_199_999)))
	wantIDs(t, expire(w, after(7_200_000)), "before")
}

func TestCallbackMayUseTheWheel(t *testing.T) {
	w := New[string](epoch)
	for _, id := range []string{"again", "removes", "removed", "last"} {
		w.Set(id, after(10))
	}
	var ids []string
	w.Expire(after(10), func(id string) {
		ids = append(ids, id)
		switch id {
		case "again":
			w.Set(id, after(0))
		case "removes":
			w.Remove("removed")
		case "last":
			w.Set("later", after(20))
		}
	})
	if ids = ids[:3]; !slices.Equal(ids, []string{"again", "removes", "last"}) {
		t.Fatalf("handed out %q", ids)
	}
}

func TestCallbackCannotLoop(t *testing.T) {
	w := New[string](epoch)
	w.Set("a", epoch)
	calls := 0
	w.Expire(after(1), func(id string) {
		calls++
		w.Set(id, epoch)
	})
	if calls != 1 || w.Len() != 1 {
		t.Fatalf("%d calls and %d entries, want 1 and 1", calls, w.Len())
	}
}

func TestAnyTimeIsCovered(t *testing.T) {
	dues := []time.Time{{}, time.Unix(-1<<62, 5), time.Unix(1<<62, 5), time.Unix(1<<40, 0), epoch}
	w := New[int](time.Time{})
	for i, due := range dues {
		w.Set(i, due)
	}
	var got []int
	w.Expire(time.Unix(1<<62, 0), func(i int) { got = append(got, i) })
	w.Expire(time.Unix(1<<62, 999_999_999), func(i int) { got = append(got, i) })
	if want := []int{1, 0, 4, 3, 2}; !slices.Equal(got, want) {
		t.Fatalf("handed out %v, want %v", got, want)
	}
}

// A burst may not keep its memory: the wheel lives as long as the server.
func TestBurstGivesMemoryBack(t *testing.T) {
	const burst = 100_000
	w := New[int](epoch)
	before := heap()
	for i := range burst {
		w.Set(i, after(int64(i%5000)))
	}
	full := heap() - before
	w.Expire(after(5000), func(int) {})
	left := heap() - before
	t.Logf("%d bytes an entry; %d bytes left afterwards", full/burst, left)
	if left > 100_000 {
		t.Fatalf("%d bytes are left of %d", left, full)
	}
	runtime.KeepAlive(w)
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkReplace(b *testing.B) {
	for _, size := range []int{1_000, 100_000} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			w := filled(size)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				w.Set(i%size, after(int64(i*7919%1_000_000)))
			}
		})
	}
}

func filled(size int) *Wheel[int] {
	w := New[int](epoch)
	for i := range size {
		w.Set(i, after(int64(i)))
	}
	return w
}

// BenchmarkRetry is one entry's life at a dispatcher: handed out, and set again
// for the next attempt, among 100,000 others.
func BenchmarkRetry(b *testing.B) {
	w := filled(100_000)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		now, _ := w.Next()
		w.Expire(now, func(id int) {
			n++
			w.Set(id, now.Add(5*time.Minute))
		})
	}
}

func BenchmarkJumpOfYears(b *testing.B) {
	w, now := New[int](epoch), epoch
	b.ReportAllocs()
	for b.Loop() {
		w.Set(1, now.AddDate(1, 0, 0))
		now = now.AddDate(2, 0, 0)
		if now.Year() > 200_000 {
			now = epoch
		}
		w.Expire(now, func(int) {})
	}
}

func BenchmarkNext(b *testing.B) {
	w := filled(100_000)
	b.ReportAllocs()
	for b.Loop() {
		w.Next()
	}
}
