package store

import (
	"context"
	"time"

	"teamdata/store/rows"
)

// Store is a storage engine. Its methods are safe for concurrent use. It may run a
// transaction's function more than once; only what the last run did counts.
//
// A storage fault is an [Error] with CodeUnavailable: nothing was written, and
// reads continue to work.
type Store interface {
	// View runs fn on a consistent snapshot of the data, all of it on disk. fn
	// must not retain data from the Tx and must be short: it builds an answer, it
	// does not send it.
	View(ctx context.Context, fn func(Tx) error) error

	// Update runs fn and commits what it wrote. It returns once the commit is on
	// disk, or with fn's error after rolling back. A panic in fn is an error. fn reads
	// and writes only what the scope has.
	Update(ctx context.Context, scope Scope, fn func(Tx) error) error

	// AccessGeneration changes whenever anything that an Access depends on is
	// committed, before that Update returns. An engine that doesn't track this
	// returns a new number each time.
	AccessGeneration() uint64

	// OnAccess sets fn to be called when the AccessGeneration has changed so, also by a
	// commit of another node. fn must not block. It is set once.
	OnAccess(fn func())

	// EventTypeGeneration is the same of the event types that the operator
	// registered.
	EventTypeGeneration() uint64

	Queue
	Coordination

	// Close waits for running transactions and closes the store.
	Close() error
}

// Queue is the part of a Store that the dispatcher uses. Transactions write due
// deliveries; the queue finds them and keeps two senders from sending the same
// delivery at the same time.
type Queue interface {
	// OnDue sets fn to be called, in commit order and before the committing
	// Update returns, when deliveries of an endpoint become due. due is at or
	// before the earliest due time; Claim is authoritative. fn must not block. It
	// is set once, before the first Update that it needs to see.
	OnDue(fn func(endpoint uint64, due time.Time))

	// EachDue calls fn with the earliest due time of each endpoint that has
	// deliveries waiting and is not disabled. It costs one seek per endpoint.
	EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error

	// Claim takes up to limit deliveries of the endpoint that are due at now,
	// earliest first. A claimed delivery is not claimed again before Release.
	// A disabled or removed endpoint has nothing due.
	Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (Claims, error)

	// HandOver makes Claim claim nothing from now on, and returns when other nodes can
	// have what is due: once the claims are released, or when ctx is done.
	HandOver(ctx context.Context)

	// Release returns a claimed delivery, with or without a committed outcome.
	Release(deliveryID string)
}

// Claims is what a dispatcher needs to send some deliveries to one endpoint.
type Claims struct {
	Endpoint Endpoint
	Claims   []Claim
	Next     time.Time // due time of the earliest delivery left unclaimed; zero when there is none
	Until    time.Time // no attempt starts from then on, by either clock of the system; zero: the claims last until they are released
	Fence    Fence     // goes with each outcome
	Again    bool      // one that was claimed before was written since, such as by a replay: it may be due when it is released
}

// Claim is one delivery to attempt now.
type Claim struct {
	Delivery Delivery
	Body     []byte
}

// Tx is one transaction. Its methods stand in the files of their nouns. They return an
// [Error]; a missing record is notFound. Times have a resolution of a millisecond.
//
// Now is the transaction's time, by the engine's clock, and NewID returns an id greater than
// all earlier ones with the prefix that Updates with a part of the scope in common got.
type Tx struct {
	*rows.Tx
	Apart
}

// Apart is what a transaction has beside rows.
type Apart interface {
	// HTTPOnLoopback reports whether an endpoint may have an http:// URL of this
	// machine, as the engine was told: only a server with a test clock says so.
	HTTPOnLoopback() bool
	// IsClaimed reports whether this process attempts a delivery now. It is no part of the
	// snapshot, and doesn't know what other nodes attempt.
	IsClaimed(deliveryID string) bool
	DeliveryCountsTx
}

// Page is one page of a list, ready to be sent.
type Page struct {
	Items []byte // the items' JSON, with commas between them
	Count int
	Last  Cursor // position of the last item; zero on an empty page
	More  bool   // whether more items follow
}
