package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"teamdata/store"
)

// replaysJob is the job of doing them, see [store.Coordination.Hold].
const replaysJob = "replays"

// replaysEvery is how often the node that replays deliveries looks for jobs that others
// started, or tries again after an error.
const replaysEvery = time.Second

// replayJob does the jobs that replay many deliveries: at the start those that an
// earlier process left, then each as it is created.
func (a *App) replayJob() job {
	return job{
		pause: replaysEvery, wake: a.replays,
		do: func(ctx context.Context) error { return store.RunReplays(ctx, a.store) }, failed: "deliveries can't be replayed; trying again",
	}
}

// replaysOffline does jobs while no server does.
type replaysOffline struct {
	running sync.WaitGroup
	mu      sync.Mutex
	errs    []error
}

// start does the jobs that were created by now, unless another process does.
func (r *replaysOffline) start(ctx context.Context, s store.Engine) {
	r.running.Go(func() {
		_, err := s.Hold(ctx, replaysJob, func(ctx context.Context) error { return store.RunReplays(ctx, s) })
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errs = append(r.errs, err)
	})
}

// wait waits until they are done, and reports on said that they were stopped.
func (r *replaysOffline) wait(said io.Writer) error {
	r.running.Wait()
	err := errors.Join(r.errs...)
	if errors.Is(err, context.Canceled) {
		fmt.Fprintln(said, "the replay has stopped; the next `teamdata serve` continues it")
		return nil
	}
	return err
}
