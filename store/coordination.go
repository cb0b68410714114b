package store

import (
	"context"
	"crypto/rand"
	"maps"
	"sync"
	"time"
)

// Coordination is what the nodes on one store agree on, beside its records. That of
// an engine that one process has for itself is [Alone].
type Coordination interface {
	// Hold runs fn while no other node runs one of the same name, and returns its
	// error. fn's ctx is done once ctx is, or the node has lost its hold. held is
	// false, and nothing was done, while another node has it. Functions of one node
	// don't exclude one another.
	Hold(ctx context.Context, name string, fn func(ctx context.Context) error) (held bool, err error)

	// UseUp reports whether a text, such as a challenge, was used up for the first
	// time, on any node, within at least ttl before now.
	UseUp(ctx context.Context, text string, now time.Time, ttl time.Duration) (first bool, err error)

	// SharedKey returns a random key of 32 bytes that all nodes have until the last
	// of them stops.
	SharedKey(ctx context.Context) ([]byte, error)

	// Limiter returns the limiter of a limit, which counts what all nodes do. Calls
	// with the same name must have the same limit, and one process makes each once.
	Limiter(l Limit) Limiter
}

// Alone is the Coordination of an engine that one process has for itself. It is in
// memory. The zero value is ready to use.
type Alone struct {
	mu     sync.Mutex
	used   map[string]time.Time // until when each text is remembered
	turnAt time.Time            // when those that have ended are forgotten
	key    []byte               // nil: it was not asked for yet
}

var _ Coordination = (*Alone)(nil)

// Hold runs fn: there is no other node.
func (a *Alone) Hold(ctx context.Context, _ string, fn func(ctx context.Context) error) (bool, error) {
	return true, fn(ctx)
}

// UseUp remembers texts until they end, and at most as long again.
func (a *Alone) UseUp(_ context.Context, text string, now time.Time, ttl time.Duration) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !now.Before(a.turnAt) {
		maps.DeleteFunc(a.used, func(_ string, until time.Time) bool { return !now.Before(until) })
		a.turnAt = now.Add(ttl)
	}
	if a.used == nil {
		a.used = make(map[string]time.Time)
	}
	if until, known := a.used[text]; known && now.Before(until) {
		return false, nil
	}
	a.used[text] = now.Add(ttl)
	return true, nil
}

// SharedKey returns a key that is gone with the process.
func (a *Alone) SharedKey(context.Context) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.key == nil {
		a.key = make([]byte, 32)
		rand.Read(a.key)
	}
	return a.key, nil
}
