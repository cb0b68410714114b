package kit

import "testing"

func TestSeeds(t *testing.T) {
	one, three := uint64(0), uint64(3)
	s := Seeds{one: &one, count: &three}
	for _, c := range []struct {
		env         string
		first, last uint64
	}{
		{"", 1, 3}, {"4711", 4712, 4714}, {"18446744073709551615", 709551616, 709551618},
	} {
		t.Setenv("SEED", c.env)
		if first, last := s.bounds(t); first != c.first || last != c.last {
			t.Errorf("SEED=%s runs %d to %d, want %d to %d", c.env, first, last, c.first, c.last)
		}
	}
	one = 7
	if first, last := s.bounds(t); first != 7 || last != 7 {
		t.Errorf("seed 7 alone runs %d to %d", first, last)
	}
}
