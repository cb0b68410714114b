package engine

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"teamdata/store"
)

// Changes are what a group of Updates wrote that others are told of. A copy from before
// an Update undoes what it added.
type Changes struct {
	Touched bool // something that an Access depends on was written
	Retyped bool // an event type was written
	due     []dueAt
	again   []string
}

type dueAt struct {
	endpoint uint64
	at       time.Time
}

// Due adds that deliveries of an endpoint become due.
func (c *Changes) Due(endpoint uint64, at time.Time) { c.due = append(c.due, dueAt{endpoint, at}) }

// DueNow is that something is due at an endpoint by now.
func DueNow(endpoint uint64) *Changes { return &Changes{due: []dueAt{{endpoint: endpoint}}} }

// DueAt yields the endpoints where something becomes due.
func (c *Changes) DueAt() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for _, d := range c.due {
			if !yield(d.endpoint) {
				return
			}
		}
	}
}

// Again adds a waiting delivery that was written once more.
func (c *Changes) Again(deliveryID string) { c.again = append(c.again, deliveryID) }

// Notices tell of commits. The zero value is ready to use.
type Notices struct {
	Claims
	access, types atomic.Uint64
	onDue         atomic.Pointer[func(endpoint uint64, due time.Time)]
}

// Tell tells of a commit, in commit order and before the callers continue.
func (n *Notices) Tell(c *Changes) {
	if c.Touched {
		n.access.Add(1)
	}
	if c.Retyped {
		n.types.Add(1)
	}
	n.note(c.again)
	onDue := n.onDue.Load()
	if onDue == nil {
		return
	}
	for _, d := range c.due {
		(*onDue)(d.endpoint, d.at)
	}
}

// OnDue sets the function that is called when deliveries become due.
func (n *Notices) OnDue(fn func(endpoint uint64, due time.Time)) { n.onDue.Store(&fn) }

// HandOver does nothing: there is no other node.
func (n *Notices) HandOver(context.Context) {}

// Nodes lists none.
func (n *Notices) Nodes(context.Context) ([]store.Node, error) { return nil, nil }

// AccessGeneration is bumped after each commit that touched what an Access depends on.
func (n *Notices) AccessGeneration() uint64 { return n.access.Load() }

// EventTypeGeneration is bumped like it, for event types.
func (n *Notices) EventTypeGeneration() uint64 { return n.types.Load() }
