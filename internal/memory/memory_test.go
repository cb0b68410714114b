package memory

import "testing"

// The more is live, the less garbage is left beside it.
func TestPercent(t *testing.T) {
	for live, want := range map[uint64]int{0: 400, 1 << 20: 400, 16 << 20: 400, 32 << 20: 200, 64 << 20: 100, 256 << 20: 25, 10 << 30: 25} {
		if got := percent(live); got != want {
			t.Errorf("%d bytes: %d %%, not %d", live, got, want)
		}
	}
}

// Memory is left over once the process has grown, or once goroutines have ended that held some.
func TestOver(t *testing.T) {
	given := figures{total: 100 << 20, released: 20 << 20, goroutines: 1000}
	for now, want := range map[figures]bool{
		given: false,
		{total: 108 << 20, released: 20 << 20, goroutines: 1000}:   false,
		{total: 108<<20 + 1, released: 20 << 20, goroutines: 1000}: true,
		{total: 108<<20 + 1, released: 21 << 20, goroutines: 1000}: false,
		{total: 90 << 20, released: 20 << 20, goroutines: 990}:     false,
		{total: 90 << 20, released: 20 << 20, goroutines: 989}:     true,
	} {
		if got := now.over(given); got != want {
			t.Errorf("%+v: %v", now, got)
		}
	}
}
