package ratelimit

import (
	"net/netip"
	"testing"
	"time"
)

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
