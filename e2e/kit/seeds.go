package kit

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

// Seeds are the seeds that a random test runs: a number of them from 1 on, or with SEED in
// the environment from a number that follows from it, so that each tree in CI tries others.
// One flag changes how many, and another names a single seed to repeat.
type Seeds struct {
	flag       string
	one, count *uint64
}

// NewSeeds registers a flag such as "seeds", for how many, and beside it "seed" for one.
func NewSeeds(many string, count uint64) Seeds {
	one := strings.TrimSuffix(many, "s")
	return Seeds{
		flag:  one,
		one:   flag.Uint64(one, 0, "run this seed alone; 0 runs as many as "+many+" says"),
		count: flag.Uint64(many, count, "how many seeds are run: from 1 on, or after a number that follows from SEED"),
	}
}

// Alone reports whether one seed is run to see it again.
func (s Seeds) Alone() bool { return *s.one != 0 }

// Run runs a test of each seed, and of those that once found a fault, and says how a
// failed one is seen again.
func (s Seeds) Run(t *testing.T, test func(t *testing.T, seed uint64), found ...uint64) {
	first, last := s.bounds(t)
	t.Logf("seeds %d to %d", first, last)
	run := found
	if s.Alone() {
		run = nil
	}
	for seed := first; seed <= last; seed++ {
		run = append(run, seed)
	}
	for _, seed := range run {
		t.Run(fmt.Sprint(seed), func(one *testing.T) {
			one.Cleanup(func() {
				if one.Failed() {
					root, _ := Root()
					here, _ := packageFolder(root)
					one.Logf("see it again with: go test %s -run '^%s$' -v -args -%s=%d", here, t.Name(), s.flag, seed)
				}
			})
			test(one, seed)
		})
	}
}

func (s Seeds) bounds(t *testing.T) (first, last uint64) {
	if s.Alone() {
		return *s.one, *s.one
	}
	base, _ := seedGiven(t)
	base %= 1e9 // so that a seed is short enough to be typed
	return base + 1, base + *s.count
}
