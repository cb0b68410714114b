// Package memory keeps the memory of a process in proportion to what it holds: the
// more live data there is, the less garbage the collector leaves, and memory that is no longer
// needed goes back to the system.
//
// It imports nothing of ours. How much memory there is to be had is in internal/system.
package memory

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"time"
)

const (
	// spare is how much garbage may gather before it is collected.
	spare = 64 << 20 // bytes
	// most and least bound it in percent of what is live, as GOGC does: a small process does
	// not collect all the time, and neither does a large one.
	most, least = 400, 25

	// every is how often it is looked whether memory is left over. idle is what a process
	// that is not busy allocates in that time.
	every = 5 * time.Second
	idle  = 16 << 20 // bytes
	// grown is by how much the process may have grown since it gave memory back.
	grown = 8 << 20 // bytes
	// fewer is by how many goroutines it may have fewer: their memory is garbage, which the
	// figures of memory don't show before it is collected. One of them may hold a large answer.
	fewer = 10
)

// The figures of the runtime that are read, in this order.
var names = []string{
	"/gc/heap/live:bytes", "/gc/scan/stack:bytes", "/gc/heap/allocs:bytes",
	"/memory/classes/total:bytes", "/memory/classes/heap/released:bytes", "/sched/goroutines:goroutines",
}

type figures struct{ live, stacks, allocated, total, released, goroutines uint64 }

func read() (f figures) {
	samples := make([]metrics.Sample, len(names))
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples)
	for i, to := range []*uint64{&f.live, &f.stacks, &f.allocated, &f.total, &f.released, &f.goroutines} {
		*to = samples[i].Value.Uint64()
	}
	return f
}

// percent is GOGC for what is live.
func percent(live uint64) int { return min(most, max(least, int(100*spare/max(live, 1)))) }

// Keeper keeps the memory of its process, of which there is one.
type Keeper struct {
	limit   uint64
	percent int // that is set; 0: GOGC was given
	full    atomic.Bool
	ended   atomic.Bool
}

// Keep keeps the process below a number of bytes, as far as its live data permits, until
// GiveBack returns. GOGC and GOMEMLIMIT in the environment, of which the operator knows the
// reasons, win.
func Keep(limit uint64) *Keeper {
	k := &Keeper{limit: limit}
	if given := debug.SetMemoryLimit(-1); os.Getenv("GOMEMLIMIT") != "" {
		k.limit = uint64(given)
	} else {
		debug.SetMemoryLimit(int64(min(limit, 1<<62)))
	}
	if os.Getenv("GOGC") == "" {
		k.percent = most
		debug.SetGCPercent(most)
	}
	k.collected()
	return k
}

// Full reports whether what the process holds leaves little of its limit: then it is not to
// take on more. A nil Keeper is never full.
func (k *Keeper) Full() bool { return k != nil && k.full.Load() }

type cycle struct{ _ *cycle }

// collected runs after each collection: it ends as garbage of the next.
func (k *Keeper) collected() {
	if k.ended.Load() {
		return
	}
	f := read()
	live := f.live + f.stacks
	k.full.Store(live > k.limit/4*3)
	if next := percent(live); k.percent != 0 && (next < k.percent*7/8 || next > k.percent*9/8) {
		k.percent = next
		debug.SetGCPercent(next)
	}
	runtime.SetFinalizer(new(cycle), func(*cycle) { k.collected() })
}

// GiveBack gives memory back to the system that is left over from the start, and then from
// busier times, until ctx ends.
func (k *Keeper) GiveBack(ctx context.Context) {
	defer k.ended.Store(true)
	given, last := freed(), uint64(0)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		f := read()
		if f.allocated-last < idle && f.over(given) {
			given = freed()
		}
		last = f.allocated
	}
}

// freed are the figures after all has gone back to the system that can: what is in a sync.Pool
// outlives one collection.
func freed() figures {
	runtime.GC()
	debug.FreeOSMemory()
	return read()
}

// over reports whether memory may be left over since some was given back.
func (f figures) over(given figures) bool {
	return f.held() > given.held()+grown || f.goroutines+fewer < given.goroutines
}

// held is what the process has of the system's memory.
func (f figures) held() uint64 { return f.total - f.released }
