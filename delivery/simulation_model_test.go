package delivery_test

import (
	"math/rand/v2"
	"time"

	"teamdata/store"
)

// org is a team, as the world knows it.
type org struct {
	id        string
	endpoints []*endpoint        // those that are there
	plan      string             // empty: that of a new org
	people    map[string]*person // its members, by user
	members   []string           // users who may be changed and removed
	audit     []string           // the ids of its audit log, in the order of their commits
	readers   []*poller
}

// person is a member of an org.
type person struct{ role, address string }

// webhooks tells whether the org's plan includes them.
func (o *org) webhooks() bool { return o.plan != "free" }

// addresses are those of the org's managers.
func (o *org) addresses() (all []string) {
	for _, p := range o.people {
		if p.role != store.RoleMember && p.address != "" {
			all = append(all, p.address)
		}
	}
	return all
}

// endpoint is an address of an org, and the receiver there.
type endpoint struct {
	name       string
	id, orgID  string
	number     uint64
	urls       []address // with the latest last
	selects    []string
	character  character
	requests   uint64 // that the receiver got
	disabledBy *act   // nil: it is enabled
	removedBy  *act   // nil: it is there
	forgotten  bool   // nothing is left of it
	enabledAt  time.Time
	keys       []keys    // its secrets, with the latest last
	lastTaken  time.Time // end of the latest attempt whose acknowledgement was committed
	claimed    int       // deliveries in hand
	idleSince  time.Time // when that fell to none
	landedAt   time.Time // when the latest attempt was done with
	timedOut   bool      // that was for want of an answer
	looks      int       // in a row that found nothing due, since
	happened   int       // something did
}

// address is where deliveries go from a commit on.
type address struct {
	by  *act
	url string
}

// keys are secrets that sign from a commit on.
type keys struct {
	by       *act
	secret   string
	old      string
	oldUntil time.Time
}

// parcel is a delivery that was accepted, and where it must stand.
type parcel struct {
	name     string
	id       string
	eventID  string
	to       *endpoint
	body     string
	state    store.DeliveryState
	attempts int       // of its round
	made     int       // of all rounds
	first    time.Time // start of the round's first attempt
	lastEnd  time.Time // of the latest attempt that was committed
	due      time.Time
	finished time.Time
	moved    time.Time // when the latest commit that changed it was made
	takenAt  time.Time // when it was taken in hand
	tries    []*try
	gone     bool // dropped when it was old
}

// waiting tells whether an attempt is to come.
func (p *parcel) waiting() bool {
	return p.state == store.StatePending || p.state == store.StateRetrying
}

// requeue is what a replay means.
func (p *parcel) requeue(due time.Time) {
	if !p.waiting() {
		p.state, p.attempts, p.first, p.finished = store.StatePending, 0, time.Time{}, time.Time{}
	}
	p.due = due
}

// lastTry is the latest attempt; nil before the first.
func (p *parcel) lastTry() *try {
	if len(p.tries) == 0 {
		return nil
	}
	return p.tries[len(p.tries)-1]
}

// try is an attempt, as the network saw it.
type try struct {
	process    int // which of the processes made it
	start, end time.Time
	over       bool
	cut        bool // by a stop: it does not count
	timedOut   bool
	acked      bool // the dispatcher saw a 2xx
	taken      bool // the receiver took it
	recorded   bool // its outcome was committed
}

func floorMs(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

func ceilMs(t time.Time) time.Time {
	if floorMs(t).Equal(t) {
		return floorMs(t)
	}
	return floorMs(t).Add(time.Millisecond)
}

func latest(times ...time.Time) (last time.Time) {
	for _, t := range times {
		if t.After(last) {
			last = t
		}
	}
	return last
}

// pick picks one of a few; the zero value when there are none.
func pick[T any](r *rand.Rand, from []T) (one T) {
	if len(from) > 0 {
		one = from[r.IntN(len(from))]
	}
	return one
}

// upTo is a random time that is less than most, to the microsecond.
func upTo(r *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(r.Int64N(int64(most))).Truncate(time.Microsecond)
}
