package delivery_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
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

// webhooks reports whether the org's plan includes them.
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

// receives reports whether the endpoint selects an event: by its name, with others of
// its group, or with all.
func (e *endpoint) receives(event string) bool {
	group, _, _ := strings.Cut(event, ".")
	return slices.Contains(e.selects, event) || slices.Contains(e.selects, group+".*") || slices.Contains(e.selects, "*")
}

// endpoint is an address of an org, and the receiver there.
type endpoint struct {
	name        string
	id, orgID   string
	number      uint64
	urls        []address // with the latest last
	selects     []string
	options     store.SendOptions // that its owner chose
	began       []time.Time       // when attempts began there, by a rate
	reservedAt  time.Time         // when some were reserved last
	character   character
	requests    uint64       // that the receiver got
	disabledBy  *transaction // nil: it is enabled
	removedBy   *transaction // nil: it is there
	forgotten   bool         // nothing is left of it
	enabledAt   time.Time
	keys        []keys    // its secrets, with the latest last
	lastAcked   time.Time // end of the latest attempt whose acknowledgement was committed
	claimed     int       // deliveries that are claimed
	idleSince   time.Time // when that fell to none
	lastEndAt   time.Time // when the latest attempt was released
	timedOut    bool      // that attempt timed out
	pull        bool      // consumers pull from it
	warned      time.Time // when its managers were mailed that nobody pulls
	emptyClaims int       // in a row
	happened    int       // the world's count at the last of those
}

// address is where deliveries go from a commit on, and the header that they carry.
type address struct {
	by         *transaction
	url, token string // no token: no header
}

// keys are secrets that sign from a commit on.
type keys struct {
	by       *transaction
	secret   string
	old      string
	oldUntil time.Time
}

// modelDelivery is a delivery that was accepted, and the state it must be in.
type modelDelivery struct {
	name      string
	id        string
	eventID   string
	to        *endpoint
	body      string
	state     store.DeliveryState
	attempts  int       // of its round
	made      int       // of all rounds
	first     time.Time // start of the round's first attempt
	lastEnd   time.Time // of the latest attempt that was committed, as it is kept: its start in ms, and how long it took
	due       time.Time
	finished  time.Time
	moved     time.Time // when the latest commit that changed it was made
	claimedAt time.Time // when it was claimed last
	tries     []*try
	gone      bool      // dropped when it was old
	created   time.Time // by the store's clock

	// Of those to be pulled:
	lease     leased    // zero: it is in none
	lastStart time.Time // of the latest attempt
	hands     []hand    // the times that a consumer got it
	ackKnown  bool      // a consumer knows that it is acknowledged
	replayed  bool      // since it was acknowledged
}

// done reports whether it was acknowledged or has failed.
func (p *modelDelivery) done() bool {
	return p.state == store.StateAcknowledged || p.state == store.StateFailed
}

// at is what the store has of a delivery, and must is what it must have, in a line.
func at(d *store.Delivery) string {
	return place(d.State, d.Attempts, d.DueAt, latest(d.FinishedAt, d.Lease().EndsAt))
}

func (p *modelDelivery) must() string {
	return place(p.state, p.attempts, p.due, latest(p.finished, p.lease.until))
}

// waiting reports whether an attempt is to come.
func (p *modelDelivery) waiting() bool {
	return p.state == store.StatePending || p.state == store.StateRetrying
}

// requeue is what a replay means.
func (p *modelDelivery) requeue(due time.Time) {
	if !p.waiting() {
		p.state, p.attempts, p.first, p.finished = store.StatePending, 0, time.Time{}, time.Time{}
	}
	p.due, p.replayed = due, true
}

// lastTry is the latest attempt; nil before the first.
func (p *modelDelivery) lastTry() *try {
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
	received   bool // the receiver took it
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

func (w *world) org(id string) *org {
	for _, o := range w.orgs {
		if o.id == id {
			return o
		}
	}
	return nil
}

// endpointOf is the endpoint that has an id now.
func (w *world) endpointOf(orgID, id string) *endpoint {
	for _, e := range w.endpoints {
		if e.orgID == orgID && e.id == id && e.removedBy == nil {
			return e
		}
	}
	return nil
}

// now is the endpoint that has the id of another now, if there is one.
func (w *world) now(e *endpoint) *endpoint { return w.endpointOf(e.orgID, e.id) }

// anEndpoint is one that an org has, or had.
func (w *world) anEndpoint(o *org) *endpoint {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := pick(w.Rand, o.endpoints); e != nil {
		return e
	}
	all := slices.DeleteFunc(slices.Clone(w.endpoints), func(e *endpoint) bool { return e.orgID != o.id })
	return pick(w.Rand, all)
}

func (w *world) endpointByNumber(number uint64) *endpoint {
	for _, e := range w.endpoints {
		if e.number == number {
			return e
		}
	}
	return nil
}

// sameDelivery compares a delivery in the store with the model.
func (w *world) sameDelivery(a *transaction, p *modelDelivery, d *store.Delivery) {
	got, want := at(d), p.must()
	if got != want {
		w.breaksLocked(schedule, "after %s, %s is %s; it must be %s", a.who, p.name, got, want)
	}
	if !d.FirstAttemptAt.Equal(p.first) {
		w.breaksLocked(disabling, "after %s, the first attempt of %s was at %s; it was at %s", a.who, p.name, d.FirstAttemptAt, p.first)
	}
	if n := min(p.made, store.MaxHistory); len(d.History) != n {
		w.breaksLocked(schedule, "%d attempts are kept of %s, of which %d were made", len(d.History), p.name, p.made)
	}
}

func place(state store.DeliveryState, attempts int, due, finished time.Time) string {
	if state == store.StatePending || state == store.StateRetrying {
		return fmt.Sprintf("%s after %d attempts, due %s", state, attempts, due.UTC().Format(time.StampMilli))
	}
	return fmt.Sprintf("%s after %d attempts, at %s", state, attempts, finished.UTC().Format(time.StampMilli))
}

// sameEndpoint compares an endpoint in the store with the model.
func (w *world) sameEndpoint(p promise, when string, e *endpoint, is *store.Endpoint) {
	k := e.keys[len(e.keys)-1]
	if is.Disabled() != (e.disabledBy != nil) || is.Secret != k.secret || is.OldSecret != k.old || is.URL != e.url() {
		w.breaksLocked(p, "after %s, %s is disabled: %t, with the secrets %s and %q, at %s", when, e.name, is.Disabled(), is.Secret, is.OldSecret, is.URL)
	}
}

func sameSet[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for _, x := range a {
		if !slices.Contains(b, x) {
			return false
		}
	}
	return true
}
