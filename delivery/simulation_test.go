package delivery_test

import (
	"flag"
	"fmt"
	"testing"
	"testing/synctest"
)

var (
	oneSeed = flag.Uint64("simulation.seed", 0, "simulate this seed alone and log all that happens; 0 simulates simulation.seeds of them")
	seeds   = flag.Uint64("simulation.seeds", 20, "how many seeds are simulated, from 1 on")
)

// TestSimulation lets days pass in a small world, where all goes wrong that may:
// receivers fail, hang and lose their answers, the disk is full at times, the
// clock is set, the program is killed, stopped and started, and people disable,
// enable, move, remove and make endpoints, replay and recover meanwhile. The store, its file, the dispatcher and
// the mailer are the real ones; the network, the mail server and the time are
// not, so that hours take no time at all.
//
// The world knows what was accepted, and holds each commit, each attempt and what
// a restart finds to the promises (simulation_report_test.go). What a seed does is
// its own, but for the order of what happens at the same instant.
//
//	go test -race ./delivery -run '^TestSimulation$' -simulation.seeds=500
func TestSimulation(t *testing.T) {
	first, last := uint64(1), *seeds
	if *oneSeed != 0 {
		first, last = *oneSeed, *oneSeed
	}
	for seed := first; seed <= last; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { newWorld(t, seed).live() })
		})
	}
}
