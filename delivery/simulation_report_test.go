package delivery_test

import (
	"fmt"
	"strings"
	"sync"
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
	exclusive  promise = "what one node has, no other has at the same time"
	memory     promise = "the dispatcher remembers no more than an entry an endpoint, and sleeps when idle"
)

// entry is one thing that happened.
type entry struct {
	at     time.Duration
	format string
	args   []any
}

// chronicle is what happened in a simulation, up to the first promise that was broken.
type chronicle struct {
	born time.Time
	over chan struct{} // closed when a promise is broken

	mu      sync.Mutex // guards what follows, and what else of a simulation many read and write
	history []entry
	broken  string // the promise that did not hold, and how
}

func newChronicle() chronicle {
	return chronicle{born: time.Now(), over: make(chan struct{})}
}

func (c *chronicle) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.noteLocked(format, args...)
}

func (c *chronicle) noteLocked(format string, args ...any) {
	c.history = append(c.history, entry{time.Since(c.born), format, args})
}

// breaks notes that a promise was broken. The first is reported.
func (c *chronicle) breaks(p promise, format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.breaksLocked(p, format, args...)
}

func (c *chronicle) breaksLocked(p promise, format string, args ...any) {
	if c.broken != "" {
		return
	}
	what := fmt.Sprintf(format, args...)
	c.noteLocked("BROKEN: %s", what)
	c.broken = fmt.Sprintf("after %s a promise is broken: %s\n%s", time.Since(c.born), p, what)
	close(c.over)
}

func (c *chronicle) isBroken() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.isBrokenLocked()
}

func (c *chronicle) isBrokenLocked() bool { return c.broken != "" }

// lastOnes is how many entries of the history a report shows.
const lastOnes = 30

// report tells how a broken world came about.
func (w *world) report() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if seeds.Alone() {
		w.Logf("%d endpoints, %+v; all that happened:\n%s", len(w.endpoints), w.sum, tell(w.history))
	}
	if w.broken == "" {
		return
	}
	w.Error(w.story())
}

// story is how a promise came to be broken.
func (c *chronicle) story() string {
	return fmt.Sprintf("%s\nthe last that happened:\n%s", c.broken, tell(c.untilBroken()))
}

func (c *chronicle) untilBroken() []entry {
	for i, e := range c.history {
		if strings.HasPrefix(e.format, "BROKEN") {
			return c.history[max(0, i-lastOnes) : i+1]
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
func (c *chronicle) since(t time.Time) time.Duration { return t.Sub(c.born) }

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
