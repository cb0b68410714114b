package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
	"github.com/rs/zerolog"

	"teamdata/delivery"
	"teamdata/internal/hint"
	"teamdata/internal/system"
	"teamdata/store"
	"teamdata/store/boltstore/boltfile"
)

// MinDiskFree is the free disk space required, in bytes: with less the disk
// counts as full.
const MinDiskFree = 1 << 20

const (
	healthKept = time.Second     // how long the result of a check is reused
	commitKept = 5 * time.Second // how long a commit shows that commits work
	checkLimit = 2 * time.Second // how long a check may take
)

// health reports whether the server can do its work. It checks on demand, and at
// most once per healthKept.
type health struct {
	stopped    context.Context // done: it is stopping
	store      store.Engine
	dispatcher *delivery.Dispatcher
	folder     string        // of the data file; empty: the data is in a database
	shared     bool          // other nodes may work on the data, which is in a database
	limit      time.Duration // that a check may take
	log        zerolog.Logger

	last     atomic.Pointer[verdict]
	checking sync.Mutex
	probing  chan error // belongs to the running check; nil: no probe is on its way
}

// verdict is the result of a check.
type verdict struct {
	at       time.Time
	failing  []string // a line for each check that failed
	warnings []string // a line for each that doesn't keep the server from answering requests
	commit   bool     // that of commits passed
}

func (a *App) newHealth(ctx context.Context) *health {
	h := &health{stopped: ctx, store: a.store, dispatcher: a.dispatcher, folder: a.folder(), shared: a.shared(), limit: checkLimit, log: a.log}
	h.last.Store(&verdict{failing: []string{"starting"}})
	return h
}

// failing returns a line for each failing check.
func (h *health) failing(context.Context) []string {
	if h.stopped.Err() != nil {
		return []string{"stopping"}
	}
	return h.current().failing
}

// warnings returns a line for each warning of the last check; failing makes it.
func (h *health) warnings(context.Context) []string { return h.last.Load().warnings }

// current returns the last verdict if it is fresh, or if another check is
// running, so concurrent callers don't all wait for a hanging disk.
func (h *health) current() *verdict {
	last := h.last.Load()
	if time.Since(last.at) < healthKept || !h.checking.TryLock() {
		return last
	}
	defer h.checking.Unlock()
	v := h.check()
	v.at = time.Now()
	h.last.Store(v)
	h.logChange(last, v)
	return v
}

func (h *health) check() *verdict {
	ctx, cancel := context.WithTimeout(context.Background(), h.limit)
	defer cancel()
	v := &verdict{commit: true}
	if err := h.checkCommit(ctx); err != nil {
		v.commit = false
		v.failing = append(v.failing, "commit: "+h.explainCommit(err))
	}
	if h.dispatcher.Alive(ctx) != nil {
		v.failing = append(v.failing, "dispatcher: it does not answer")
	}
	if h.dispatcher.Short() != "" {
		v.failing = append(v.failing, "dispatcher: short of file descriptors, memory, local ports or the right time; the log says which")
	}
	if f := h.dispatcher.ProxyDown(); f != nil {
		v.warnings = append(v.warnings, "egress proxy: it "+f.What+"; webhooks wait, and the log says more")
	}
	if off := h.store.ClockOffset().Abs(); off > store.MaxClockOffset {
		v.failing = append(v.failing, fmt.Sprintf("clock: it and the database's differ by %s", off.Round(time.Second)))
	}
	if free, known := system.DiskFree(h.folder); known && free < MinDiskFree {
		v.failing = append(v.failing, fmt.Sprintf("disk: %d KiB are free", free>>10))
	}
	return v
}

// checkCommit makes an empty commit if there was none lately, and none was refused. If
// it hangs, the next check waits for it instead of starting another.
func (h *health) checkCommit(ctx context.Context) error {
	if err := h.store.CheckPlace(); err != nil {
		return err
	}
	if err := h.store.Failing(); err != nil {
		return err
	}
	if time.Since(h.store.LastCommit()) < commitKept {
		return nil
	}
	select {
	case <-h.probing: // it has ended since the last check, and says nothing of now
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

// explainCommit describes publicly why commits fail. The error itself, which
// names files, is only logged.
func (h *health) explainCommit(err error) string {
	var state interface{ SQLState() string }
	switch {
	case boltfile.IsFull(err):
		return "the disk is full"
	case errors.As(err, &state) && state.SQLState() == "53100":
		return "the disk of the database is full"
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("not done within %s", h.limit)
	case errors.Is(err, boltfile.ErrMoved):
		return "the data file was removed or replaced"
	}
	h.log.Error().Fields(hint.Fields(err)).Msg("the readiness check can't commit")
	if h.shared {
		return "the database does not answer, or takes no changes; the log says which"
	}
	return "the data file can't be written"
}

// logChange logs the checks whose result has changed.
func (h *health) logChange(before, now *verdict) {
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

// notifyManager notifies the service manager when the listeners are bound, when
// the server stops because ctx is done, and in between that it is healthy.
func (a *App) notifyManager(ctx context.Context, h *health) (end func()) {
	a.notify("READY=1")
	stopped := make(chan struct{})
	undo := context.AfterFunc(ctx, func() {
		defer close(stopped)
		a.notify("STOPPING=1")
	})
	if pause := watchdogEvery(); pause > 0 {
		go a.feedWatchdog(ctx, h, pause)
	}
	return func() {
		if !undo() {
			<-stopped
		}
	}
}

func (a *App) notify(state string) {
	if err := sdNotify(state); err != nil {
		a.log.Warn().Err(err).Str("state", state).Msg("the service manager was not notified")
	}
}

// notifyLimit is how long the service manager may take to make room for a notification.
// One that reads none must not hold up the start or the stop.
const notifyLimit = time.Second

// sdNotify is sd_notify(3), with a limit of time.
func sdNotify(state string) error {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", path)
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetWriteDeadline(time.Now().Add(notifyLimit)); err != nil {
		return err
	}
	_, err = conn.Write([]byte(state))
	return err
}

// watchdogEvery is half of systemd's WatchdogSec; 0 without it.
func watchdogEvery() time.Duration {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		return 0
	}
	return limit / 2
}

// feedWatchdog reports to systemd while commits succeed: if they fail for
// WatchdogSec, systemd restarts the program. Another start doesn't bring back a
// database that is away, so that one is waited for.
func (a *App) feedWatchdog(ctx context.Context, h *health, pause time.Duration) {
	a.repeat(ctx, job{first: pause, pause: pause, do: func(context.Context) error {
		if h.current().commit || h.shared {
			a.notify("WATCHDOG=1")
		}
		return nil
	}})
}
