package delivery_test

import (
	"fmt"
	"strings"
	"time"
)

// promise is a property that the simulation checks.
type promise string

const (
	commits    promise = "an Update's effects are all there, or none is, after any crash"
	pages      promise = "a poller sees each audit entry once, in order, and none behind its cursor"
	arrival    promise = "each accepted delivery arrives as it was accepted, and nothing else does"
	neighbours promise = "a slow receiver delays no other"
	schedule   promise = "attempts are made when the schedule has them, one at a time, within bounds"
	duplicates promise = "nothing is sent again whose outcome is known"
	disabling  promise = "an endpoint is disabled when it is dead, and its managers get mail once"
	memory     promise = "the dispatcher remembers no more than an entry an endpoint, and sleeps when idle"
)

// entry is one thing that happened.
type entry struct {
	at     time.Duration
	format string
	args   []any
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.noteLocked(format, args...)
}

func (w *world) noteLocked(format string, args ...any) {
	w.history = append(w.history, entry{time.Since(w.born), format, args})
}

// breaks notes that a promise was broken. The first is reported.
func (w *world) breaks(p promise, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breaksLocked(p, format, args...)
}

func (w *world) breaksLocked(p promise, format string, args ...any) {
	if w.broken != "" {
		return
	}
	what := fmt.Sprintf(format, args...)
	w.noteLocked("BROKEN: %s", what)
	w.broken = fmt.Sprintf("after %s a promise is broken: %s\n%s", time.Since(w.born), p, what)
	close(w.over)
}

func (w *world) isBroken() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.broken != ""
}

// lastOnes is how many entries of the history a report shows.
const lastOnes = 30

// report tells how a broken world came about, and how to see it again.
func (w *world) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if *oneSeed != 0 {
		w.Logf("%d endpoints, %+v; all that happened:\n%s", len(w.endpoints), w.sum, tell(w.history))
	}
	if w.broken == "" {
		return
	}
	w.Errorf("%s\nthe last that happened:\n%s\nsee it again with: go test ./delivery -run '^TestSimulation$' -v -simulation.seed=%d",
		w.broken, tell(w.untilBroken()), w.seed)
}

func (w *world) untilBroken() []entry {
	for i, e := range w.history {
		if strings.HasPrefix(e.format, "BROKEN") {
			return w.history[max(0, i-lastOnes) : i+1]
		}
	}
	return nil
}

func tell(history []entry) string {
	var b strings.Builder
	for _, e := range history {
		fmt.Fprintf(&b, "%16s  %s\n", e.at, fmt.Sprintf(e.format, e.args...))
	}
	return b.String()
}

// since is how old the world was at a time.
func (w *world) since(t time.Time) time.Duration { return t.Sub(w.born) }

func names(endpoints []*endpoint) string {
	var all []string
	for _, e := range endpoints {
		all = append(all, e.name)
	}
	return "[" + strings.Join(all, " ") + "]"
}

func deliveryNames(deliveries []*modelDelivery) string {
	var all []string
	for _, p := range deliveries {
		all = append(all, p.name)
	}
	return "[" + strings.Join(all, " ") + "]"
}
