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
