package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery"
	"teamdata/store/boltstore"
)

// MinDiskFree is how many bytes are to be free: with less the disk is as good as
// full.
const MinDiskFree = 1 << 20

const (
	healthKept = time.Second     // how long a look stands for the next
	commitKept = 5 * time.Second // how long a commit shows that commits work
	checkLimit = 2 * time.Second // how long a look may take
)

// health tells whether the appliance can do its work. It looks when somebody asks,
// and not more often than once in healthKept.
type health struct {
	stopped    context.Context // done: it is stopping
	store      *boltstore.Store
	dispatcher *delivery.Dispatcher
	folder     string        // of the data file
	limit      time.Duration // that a look may take
	log        zerolog.Logger

	last    atomic.Pointer[verdict]
	looking sync.Mutex
	probing chan error // belongs to who looks; nil: no probe is on its way
}

// verdict is what a look found.
type verdict struct {
	at      time.Time
	failing []string // a line for each check that failed
	commit  bool     // that of commits passed
}

func (a *Appliance) newHealth(ctx context.Context) *health {
	h := &health{stopped: ctx, store: a.store, dispatcher: a.dispatcher, folder: filepath.Dir(a.store.Path()), limit: checkLimit, log: a.log}
	h.last.Store(&verdict{failing: []string{"starting"}})
	return h
}

// failing has a line for each check that fails.
func (h *health) failing(context.Context) []string {
	if h.stopped.Err() != nil {
		return []string{"stopping"}
	}
	return h.look().failing
}

// look returns the last verdict if it is fresh, or if another is on its way: a
// crowd that asks doesn't wait for a disk that hangs.
func (h *health) look() *verdict {
	last := h.last.Load()
	if time.Since(last.at) < healthKept || !h.looking.TryLock() {
		return last
	}
	defer h.looking.Unlock()
	v := h.check()
	v.at = time.Now()
	h.last.Store(v)
	h.tell(last, v)
	return v
}

func (h *health) check() *verdict {
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	v := &verdict{commit: true}
	if err := h.checkCommit(ctx); err != nil {
		v.commit = false
		v.failing = append(v.failing, "commit: "+h.sayCommit(err))
	}
	if h.dispatcher.Alive(ctx) != nil {
		v.failing = append(v.failing, "dispatcher: it does not answer")
	}
	if free, known := DiskFree(h.folder); known && free < MinDiskFree {
		v.failing = append(v.failing, fmt.Sprintf("disk: %d KiB are free", free>>10))
	}
	return v
}

// checkCommit makes a commit of its own when there was none lately. One that hangs
// is waited for at the next look, and no other is begun.
func (h *health) checkCommit(ctx context.Context) error {
	if time.Since(h.store.LastCommit()) < commitKept {
		return nil
	}
	select {
	case <-h.probing: // it has ended since the last look, and says nothing of now
		h.probing = nil
	default:
	}
	if h.probing == nil {
		done := make(chan error, 1)
		go func() { done <- h.store.Probe(context.Background()) }()
		h.probing = done
	}
	select {
	case err := <-h.probing:
		h.probing = nil
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// sayCommit says to anyone what keeps commits from being made. The error itself,
// which names files, is for the log.
func (h *health) sayCommit(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("not done within %s", h.limit)
	}
	h.log.Error().Err(err).Msg("the readiness check can't commit")
	return "the data file can't be written"
}

// tell logs what has changed.
func (h *health) tell(before, now *verdict) {
	switch {
	case slices.EqualFunc(before.failing, now.failing, sameCheck):
	case len(now.failing) > 0:
		h.log.Warn().Strs("failing", now.failing).Msg("not ready")
	case !before.at.IsZero():
		h.log.Info().Msg("ready again")
	}
}

func sameCheck(a, b string) bool {
	a, _, _ = strings.Cut(a, ":")
	b, _, _ = strings.Cut(b, ":")
	return a == b
}
