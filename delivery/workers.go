package delivery

import (
	"context"
	"sync"
	"sync/atomic"

	"teamdata/store"
)

// maxIdle is how many goroutines stay when there is nothing to send.
const maxIdle = 64

// job is one claimed delivery to attempt.
type job struct {
	ctx      context.Context
	endpoint *store.Endpoint
	claim    *store.Claim
}

// workers are the goroutines of the attempts, one each. They are used again,
// since by then their stacks have grown to what sending needs.
type workers struct {
	run    func(job)
	jobs   chan job // to one that is idle
	idle   atomic.Int32
	flying sync.WaitGroup // attempts in flight
}

func (w *workers) start(j job) {
	w.flying.Add(1)
	select {
	case w.jobs <- j:
	default:
		go w.work(j)
	}
}

func (w *workers) work(j job) {
	for more := true; more; j, more = w.next() {
		w.run(j)
		w.flying.Done()
	}
}

// next waits for another job; false: there are enough who do.
func (w *workers) next() (j job, more bool) {
	defer w.idle.Add(-1)
	if w.idle.Add(1) > maxIdle {
		return job{}, false
	}
	j, more = <-w.jobs
	return j, more
}

// wait waits for what is in flight, and lets the idle end.
func (w *workers) wait() {
	w.flying.Wait()
	close(w.jobs)
}
