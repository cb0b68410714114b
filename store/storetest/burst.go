package storetest

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"teamdata/store"
)

// operation is a rule or a write, with its parameters drawn.
type operation struct {
	name string
	run  func(store.Tx) error
}

// transaction is an Update of some operations. An operation that is refused does
// not end it.
type transaction struct {
	operations []operation
	fails      bool
	panics     bool
	codes      []store.Code // what came of each operation
	trace      *trace
}

func (t *transaction) String() string {
	var names []string
	for _, o := range t.operations {
		names = append(names, o.name)
	}
	text := strings.Join(names, "; ")
	switch {
	case t.fails:
		text += "; then fails"
	case t.panics:
		text += "; then panics"
	}
	return text
}

// newBurst draws n transactions.
func (h *history) newBurst(n int) (burst []*transaction) {
	for range n {
		burst = append(burst, h.newTransaction())
	}
	return burst
}

func (h *history) newTransaction() *transaction {
	t := &transaction{fails: h.IntN(5) == 0}
	t.panics = !t.fails && h.IntN(10) == 0
	for range 1 + h.IntN(4) {
		t.operations = append(t.operations, h.newOperation())
	}
	return t
}

// transact runs transactions at the same time, and then those that committed on
// the oracle, in the order in which the store ran them.
func (h *history) transact(burst ...*transaction) {
	generation, access, due := h.AccessGeneration(), h.oracle.access(h.names), h.allDue()
	h.executed = nil
	h.notified.Take()
	var all sync.WaitGroup
	for i, t := range burst {
		h.note("%d/%d: %s", i+1, len(burst), t)
		all.Go(func() { h.execute(t) })
	}
	all.Wait()
	for _, t := range h.executed {
		h.names.given(t.trace.ids)
		if !t.fails && !t.panics {
			h.replay(t)
		}
	}
	h.checkNotices(due)
	if h.oracle.access(h.names) != access && h.AccessGeneration() == generation {
		h.Errorf("who may do what has changed, and the AccessGeneration is still %d", generation)
	}
}

// allDue is what the oracle says is due by the clock.
func (h *history) allDue() map[uint64]time.Time {
	h.oracle.begin(&trace{now: h.Clock.Now()})
	return h.oracle.allDue()
}

// checkNotices holds OnDue to having reported each endpoint that now has
// something due earlier than before, at that time or an earlier one: whoever
// comes too early learns from Claim when to come again.
func (h *history) checkNotices(before map[uint64]time.Time) {
	notified := h.notified.Take()
	for endpoint, due := range h.allDue() {
		was, ok := before[endpoint]
		inTime := func(n Notice) bool { return n.Endpoint == endpoint && !n.Due.After(due) }
		if (!ok || due.Before(was)) && !slices.ContainsFunc(notified, inTime) {
			h.Errorf("OnDue did not report endpoint %d at %v; it reported %v", endpoint, due, notified)
		}
	}
}

// execute runs a transaction on the store.
func (h *history) execute(t *transaction) {
	err := h.Attempt(func(tx store.Tx) error {
		r, now := watch(tx)
		h.executes(t, now)
		for _, o := range t.operations {
			t.codes = append(t.codes, store.CodeOf(o.run(r)))
		}
		if t.panics {
			panic("this transaction is to panic")
		}
		if t.fails {
			return errFailing
		}
		return nil
	})
	switch {
	case t.fails:
		h.Equal("a failing transaction returns its error", errors.Is(err, errFailing), true)
	case t.panics:
		h.Equal("a panicking transaction returns", err != nil, true)
	default:
		h.Code("a transaction", err, "")
	}
}

// executes notes that a transaction runs. If it runs a second time, that counts.
func (h *history) executes(t *transaction, now *trace) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.executed = slices.DeleteFunc(h.executed, func(other *transaction) bool { return other == t })
	h.executed = append(h.executed, t)
	t.codes, t.trace = nil, now
}

// replay runs a transaction that committed on the oracle, which has to come to
// the same.
func (h *history) replay(t *transaction) {
	left := *t.trace
	h.oracle.begin(&left)
	for i, o := range t.operations {
		if got, want := t.codes[i], store.CodeOf(o.run(h.oracle.Tx)); got != want {
			h.Errorf("%s: the store says %q, the oracle %q", o.name, got, want)
		}
	}
	h.nothingLeft(t.String(), &left)
	if !left.now.Equal(h.Clock.Now()) {
		h.Errorf("the transaction's time is %v, the clock's %v", left.now, h.Clock.Now())
	}
}

// nothingLeft holds the store to having given no more than the oracle asked for.
func (h *history) nothingLeft(what string, left *trace) {
	if n := len(left.ids) + len(left.numbers); n > 0 {
		h.Errorf("%s: the store gave %d ids and numbers that the oracle did not ask for", what, n)
	}
}
