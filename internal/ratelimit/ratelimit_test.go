package ratelimit

import (
	"math"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var epoch = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// at is epoch plus nanoseconds.
func at(d time.Duration) time.Time { return epoch.Add(d) }

func TestBoundaries(t *testing.T) {
	l := New[string](2, time.Minute, 10)
	steps := []struct {
		at   time.Duration
		want Decision
	}{
		{0, Decision{OK: true, Limit: 2, Remaining: 1, Reset: time.Minute}},
		{10 * time.Second, Decision{OK: true, Limit: 2, RetryAfter: 50 * time.Second, Reset: 50 * time.Second}},
		{time.Minute - 1, Decision{Limit: 2, RetryAfter: 1, Reset: 1}},
		{time.Minute, Decision{OK: true, Limit: 2, RetryAfter: 10 * time.Second, Reset: 10 * time.Second}},
		{70*time.Second - 1, Decision{Limit: 2, RetryAfter: 1, Reset: 1}},
		{70 * time.Second, Decision{OK: true, Limit: 2, RetryAfter: 50 * time.Second, Reset: 50 * time.Second}},
		{time.Hour, Decision{OK: true, Limit: 2, Remaining: 1, Reset: time.Minute}},
	}
	for _, s := range steps {
		if got := l.Take("a", at(s.at)); got != s.want {
			t.Errorf("at %v: %+v, want %+v", s.at, got, s.want)
		}
	}
}

func TestLimitOne(t *testing.T) {
	l := New[int](1, time.Minute, 10)
	for i := range 5 {
		start := time.Duration(i) * time.Minute
		if !l.Take(1, at(start)).OK {
			t.Errorf("refused at %v", start)
		}
		if l.Take(1, at(start+time.Minute-1)).OK {
			t.Errorf("accepted twice within a minute of %v", start)
		}
	}
}

func TestIdsDoNotShare(t *testing.T) {
	l := New[int](1, time.Minute, 10)
	for id := range 10 {
		if !l.Take(id, epoch).OK {
			t.Errorf("id %d refused for what others did", id)
		}
	}
}

func TestNoLimit(t *testing.T) {
	for _, limit := range []int{0, -1} {
		l := New[int](limit, time.Minute, 10)
		if l.Enabled() {
			t.Errorf("limit %d is enabled", limit)
		}
		if got := l.Take(1, epoch); got != (Decision{OK: true}) || len(l.ids) != 0 {
			t.Errorf("limit %d: %+v, %d tracked", limit, got, len(l.ids))
		}
	}
}

func TestClockGoesBack(t *testing.T) {
	l := New[int](2, time.Minute, 10)
	l.Take(1, at(time.Minute))
	l.Take(1, at(0))
	for _, d := range []time.Duration{-time.Hour, 0, time.Minute, 2*time.Minute - 1} {
		if l.Take(1, at(d)).OK {
			t.Errorf("third accepted at %v", d)
		}
	}
	if !l.Take(1, at(2*time.Minute)).OK {
		t.Error("refused after the window had passed")
	}
}

func TestExtremeTimes(t *testing.T) {
	l := New[int](1, math.MaxInt64, 10)
	for i, now := range []time.Time{epoch, {}, epoch.AddDate(280, 0, 0)} {
		if got := l.Take(1, now); got.OK != (i == 0) || got.Reset <= 0 {
			t.Errorf("at %v: %+v", now, got)
		}
	}
}

func TestLeastRecentlyAcceptedIsForgotten(t *testing.T) {
	l := New[string](1, time.Minute, 2)
	l.Take("a", at(0))
	l.Take("b", at(1))
	l.Take("a", at(2)) // refused: doesn't make a recent
	l.Take("c", at(3))
	if l.Take("b", at(4)).OK {
		t.Error("b was forgotten although a was accepted before it")
	}
	if !l.Take("a", at(5)).OK {
		t.Error("a is still known")
	}
	if len(l.ids) != 2 {
		t.Errorf("%d ids tracked, want 2", len(l.ids))
	}
}

func TestFloodIsBounded(t *testing.T) {
	const tracked = 5_000
	l := New[netip.Prefix](600, time.Minute, tracked)
	for i := range 20 * tracked {
		l.Take(client(i), at(time.Duration(i)))
		if len(l.ids) > tracked {
			t.Fatalf("%d ids tracked", len(l.ids))
		}
	}
}

func TestMemoryIsGivenBackAfterFlood(t *testing.T) {
	l := New[netip.Prefix](600, time.Minute, 1_000_000)
	before := heap()
	for i := range 100_000 {
		l.Take(client(i), at(time.Duration(i)))
	}
	full := heap() - before
	for i := range 100_000 / (sweepMax - 1) {
		l.Take(client(i), at(2*time.Minute))
	}
	left := heap() - before
	if len(l.ids) > 100_000/(sweepMax-1) || left > full/8 {
		t.Errorf("%d ids and %d of %d bytes left", len(l.ids), left, full)
	}
	runtime.KeepAlive(l)
}

func TestBurstIsGivenBack(t *testing.T) {
	const burst = 200_000
	l := New[int](100_000_000, time.Minute, 1)
	for i := range burst {
		l.Take(1, at(time.Duration(i)))
	}
	if got := len(l.ids[1].times.buf); got > 2*burst {
		t.Errorf("%d places for %d times", got, burst)
	}
	l.Take(1, at(burst/2+time.Minute)) // the first half has left
	l.Take(1, at(burst-10+time.Minute))
	l.Take(1, at(burst-9+time.Minute))
	if got := len(l.ids[1].times.buf); got > 100 {
		t.Errorf("%d places after the burst", got)
	}
}

func TestConcurrentTakes(t *testing.T) {
	const limit = 1000
	l := New[string](limit, time.Minute, 10)
	var accepted, remaining atomic.Int64
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range limit {
				if d := l.Take("a", epoch); d.OK {
					accepted.Add(1)
					remaining.Add(int64(d.Remaining))
				}
			}
		})
	}
	wg.Wait()
	if got := accepted.Load(); got != limit {
		t.Errorf("%d accepted, want %d", got, limit)
	}
	if got := remaining.Load(); got != limit*(limit-1)/2 {
		t.Errorf("%d remained in all, want %d", got, limit*(limit-1)/2)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// client is the i-th of 16 million clients.
func client(i int) netip.Prefix {
	return ClientKey(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}))
}

func TestClientKey(t *testing.T) {
	for addr, want := range map[string]string{
		"192.0.2.7":                 "192.0.2.7/32",
		"::ffff:192.0.2.7":          "192.0.2.7/32",
		"2001:db8:1:2:3:4:5:6":      "2001:db8:1:2::/64",
		"2001:db8:1:2:ffff::":       "2001:db8:1:2::/64",
		"fe80::1%eth0":              "fe80::/64",
		"::1":                       "::/64",
		"::ffff:192.0.2.7%ignored0": "192.0.2.7/32",
	} {
		if got := ClientKey(netip.MustParseAddr(addr)); got != netip.MustParsePrefix(want) {
			t.Errorf("%s: %v, want %s", addr, got, want)
		}
	}
	if got := ClientKey(netip.Addr{}); got != (netip.Prefix{}) {
		t.Errorf("no address: %v", got)
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]int{
		math.MinInt64:      0,
		-1:                 0,
		0:                  0,
		1:                  1,
		time.Second - 1:    1,
		time.Second:        1,
		time.Second + 1:    2,
		59*time.Second + 1: 60,
		time.Minute:        60,
		math.MaxInt64:      9_223_372_037,
	} {
		if got := Seconds(d); got != want {
			t.Errorf("%d ns: %d, want %d", d, got, want)
		}
	}
}

func BenchmarkAccepted(b *testing.B) {
	l := New[int](100, time.Minute, 100_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Take(1, at(time.Duration(i)*time.Second))
	}
}

func BenchmarkRefused(b *testing.B) {
	l := New[int](100, time.Minute, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		l.Take(1, epoch)
	}
}

// BenchmarkParallel is a thousand clients on all cores.
func BenchmarkParallel(b *testing.B) {
	l := New[netip.Prefix](600, time.Minute, 100_000)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			l.Take(client(i%1000), time.Now())
		}
	})
}

// BenchmarkFlood is a new address with every request, all places taken.
func BenchmarkFlood(b *testing.B) {
	l := New[netip.Prefix](600, time.Minute, 100_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		l.Take(client(i), epoch)
	}
}
