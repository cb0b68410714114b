package wheel

import (
	"strconv"
	"testing"
	"time"
)

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
