package delivery

import (
	"sync"
	"time"

	"teamdata/store"
)

// endpointQueue is one endpoint's state in the dispatcher. Its window is how many
// attempts may be in flight: it starts at 1, doubles with each acknowledgement up
// to the cap, halves with any other answer, and drops to 1 on a timeout.
type endpointQueue struct {
	endpoint   uint64
	org        string // for the fair queue; known after the first claim
	window     int
	inFlight   int
	queued     bool // waiting for a turn in a fair queue
	backlogged bool // more is due than its window allowed
	dirty      bool // an attempt in flight is of a delivery that was replayed before its release
	told       bool // something became due, or its endpoint was changed, since the last claim

	// What its endpoint's owner chose, as of the last claim:
	most  int    // attempts in flight, whatever the window
	rate  string // empty: none
	size  int    // attempts that it reserves at once
	pacer *pacer // nil: no rate
	asked int    // claimed deliveries whose attempts wait to be reserved
}

// room is how many more attempts may be in flight.
func (q *endpointQueue) room() int {
	room := min(q.window, q.most) - q.inFlight
	if q.pacer != nil {
		room = min(room, q.size-q.asked) // more would be given back
	}
	return room
}

// learn takes over what the endpoint's owner chose; most is the server's cap.
func (q *endpointQueue) learn(o *store.SendOptions, most int) {
	if q.most = most; o.MaxInFlight > 0 {
		q.most = min(o.MaxInFlight, most)
	}
	if o.Rate == q.rate {
		return
	}
	if q.rate = o.Rate; q.rate == "" {
		q.pacer = nil
		return
	}
	if q.pacer == nil {
		q.pacer = newPacer()
	}
	n, _, _ := store.ParseRate(q.rate)
	q.size = store.GrantSize(n)
}

// waitsUntil returns when its rate lets the next attempt begin; zero: perhaps now.
func (q *endpointQueue) waitsUntil(now time.Time) time.Time {
	if q.pacer == nil {
		return time.Time{}
	}
	return q.pacer.waitsUntil(now, q.rate)
}

// healthy reports whether the endpoint acknowledged lately. Any other is on
// probation.
func (q *endpointQueue) healthy() bool { return q.window > 1 }

// finish removes an attempt from those in flight and adapts the window to its outcome.
func (q *endpointQueue) finish(a *store.Attempt, most int) {
	q.inFlight--
	switch {
	case a.Acknowledged():
		q.window = min(2*q.window, most)
	case a.TimedOut:
		q.window = 1
	default: // another answer, or the attempt was dropped
		q.window = max(q.window/2, 1)
	}
}

// inbox is where commits and attempts notify the dispatcher. It never blocks
// them, and holds at most one due time per endpoint and one result per attempt in
// flight.
type inbox struct {
	mu      sync.Mutex
	due     map[uint64]time.Time // earliest due time per endpoint
	results []result
	hasWork chan struct{} // has one token while the inbox may be non-empty
}

// result is an attempt that has ended.
type result struct {
	endpoint uint64
	attempt  store.Attempt
	short    bool // not made: a local resource was short
	behind   bool // not made, or in vain: the proxy had failed
	lost     bool // not made or not recorded: the claim was over
	early    bool // not made: the endpoint's rate is used up
	asked    bool // its attempt waits no more to be reserved
	begun    bool // it goes on; only asked is new
}

func (b *inbox) init() {
	b.due = make(map[uint64]time.Time)
	b.hasWork = make(chan struct{}, 1)
}

func (b *inbox) addDue(endpoint uint64, due time.Time) {
	b.mu.Lock()
	if at, ok := b.due[endpoint]; !ok || due.Before(at) {
		b.due[endpoint] = due
	}
	b.mu.Unlock()
	signal(b.hasWork)
}

func (b *inbox) addResult(r result) {
	b.mu.Lock()
	b.results = append(b.results, r)
	b.mu.Unlock()
	signal(b.hasWork)
}

func (b *inbox) take() (due map[uint64]time.Time, results []result) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.due) > 0 {
		due, b.due = b.due, make(map[uint64]time.Time)
	}
	results, b.results = b.results, nil
	return due, results
}

// signal puts a token into a channel of capacity one, unless it has one.
func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
