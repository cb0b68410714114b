package delivery

import (
	"sync"
	"time"
)

// lane is one endpoint's place in the dispatcher. Its window is how many
// attempts may be in flight: it starts at 1, doubles with each acknowledgement
// up to the cap, halves with each other answer, and falls to 1 on a timeout.
type lane struct {
	endpoint uint64
	org      string // whose turn it takes; known from its first turn on
	window   int
	inFlight int
	ready    bool // waits for its turn
	behind   bool // more is due than its window let through
	told     bool // something became due while these were in flight: maybe one of them, replayed before its release
}

// outcome is what an attempt says about its receiver.
type outcome uint8

const (
	inVain       outcome = iota // it answered, but not 2xx; or the attempt was dropped
	acknowledged                // 2xx
	timedOut                    // no answer in time
)

// proven tells whether the endpoint was acknowledged lately.
func (l *lane) proven() bool { return l.window > 1 }

func (l *lane) landed(o outcome, most int) {
	l.inFlight--
	switch o {
	case acknowledged:
		l.window = min(2*l.window, most)
	case inVain:
		l.window = max(l.window/2, 1)
	case timedOut:
		l.window = 1
	}
}

// inbox is where commits and attempts leave word for the dispatcher. It never
// blocks them, and holds at most one due time per endpoint and one note per
// attempt in flight.
type inbox struct {
	mu   sync.Mutex
	due  map[uint64]time.Time // earliest due time per endpoint
	done []landing
	news chan struct{} // holds one token while there may be something in it
}

type landing struct {
	endpoint uint64
	outcome  outcome
}

func (b *inbox) init() {
	b.due = make(map[uint64]time.Time)
	b.news = make(chan struct{}, 1)
}

func (b *inbox) noteDue(endpoint uint64, due time.Time) {
	b.mu.Lock()
	if at, ok := b.due[endpoint]; !ok || due.Before(at) {
		b.due[endpoint] = due
	}
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) noteDone(l landing) {
	b.mu.Lock()
	b.done = append(b.done, l)
	b.mu.Unlock()
	b.signal()
}

func (b *inbox) signal() {
	select {
	case b.news <- struct{}{}:
	default:
	}
}

func (b *inbox) take() (due map[uint64]time.Time, done []landing) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.due) > 0 {
		due, b.due = b.due, make(map[uint64]time.Time)
	}
	done, b.done = b.done, nil
	return due, done
}
