package engine

import (
	"context"
	"sync/atomic"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// Notices tell of commits. The zero value is ready to use.
type Notices struct {
	Claims
	access, types atomic.Uint64
	onAccess      atomic.Pointer[func()]
	onDue         atomic.Pointer[func(endpoint uint64, due time.Time)]
}

// Tell tells of a commit, in commit order and before the callers continue.
func (n *Notices) Tell(c *rows.Changes) {
	if c.Touched {
		n.Doubt()
		if onAccess := n.onAccess.Load(); onAccess != nil {
			(*onAccess)()
		}
	}
	if c.Retyped {
		n.types.Add(1)
	}
	n.note(c.Written)
	onDue := n.onDue.Load()
	if onDue == nil {
		return
	}
	for _, d := range c.Dues {
		(*onDue)(d.Endpoint, d.At)
	}
}

// Doubt bumps the AccessGeneration without a commit, which is told to nobody.
func (n *Notices) Doubt() { n.access.Add(1) }

// OnAccess sets the function that is called after the AccessGeneration was bumped.
func (n *Notices) OnAccess(fn func()) { n.onAccess.Store(&fn) }

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
