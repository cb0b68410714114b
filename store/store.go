package store

import (
	"context"
	"time"
)

// Store is a storage engine. Its methods are safe for concurrent use.
//
// A fault of the storage itself is an [Error] with CodeUnavailable: nothing was
// written, and readers go on.
type Store interface {
	// View runs fn on one moment of the data, all of which is on the disk. fn must not keep what it was
	// given, and must be short: it builds an answer, it does not send it.
	View(ctx context.Context, fn func(Tx) error) error

	// Update runs fn and commits what it wrote. It returns after the commit is
	// on the disk, or with fn's error after all of fn's writes were undone. A
	// panic in fn is an error.
	Update(ctx context.Context, fn func(Tx) error) error

	// AccessGeneration changes when the commit of anything that an Access
	// depends on is done: before the Update that did it returns. An engine
	// that can't tell returns a new number each time.
	AccessGeneration() uint64

	Queue

	// Close waits for what runs and closes the store.
	Close() error
}

// Queue is the part of a Store that the dispatcher works from. What is due is
// what the transactions wrote; the queue finds it and keeps two dispatchers
// from sending the same delivery at the same time.
type Queue interface {
	// OnDue sets who is told, in commit order and before the committing
	// callers go on, that deliveries of an endpoint became due. The time is
	// that of the earliest, or before it: Claim knows the truth. fn must not
	// block. It is set once, before the first Update that matters to it.
	OnDue(fn func(endpoint uint64, due time.Time))

	// EachDue calls fn with the earliest due time of each endpoint that has
	// deliveries waiting and is not disabled. It costs one seek an endpoint.
	EachDue(ctx context.Context, fn func(endpoint uint64, due time.Time)) error

	// Backlog counts what waits, at one moment.
	Backlog(ctx context.Context) (Backlog, error)

	// Claim takes up to limit deliveries of the endpoint that are due at now,
	// earliest first. A claimed delivery is not claimed again before Release.
	// A disabled or removed endpoint has nothing due.
	Claim(ctx context.Context, endpoint uint64, now time.Time, limit int) (Claims, error)

	// Release gives a delivery back, after its outcome has committed or
	// without one.
	Release(deliveryID string)
}

// Claims is what a dispatcher needs to send some deliveries to one endpoint.
type Claims struct {
	Endpoint Endpoint
	Claims   []Claim
	Next     time.Time // due time of the earliest delivery left unclaimed; zero when there is none
}

// Claim is one delivery to attempt now.
type Claim struct {
	Delivery Delivery
	Body     []byte
}

// Tx is one transaction. Its methods return an [Error]; a missing record is
// notFound. Times have a resolution of a millisecond.
type Tx interface {
	Clock
	Orgs
	Plans
	Members
	AuditLog
	InstructionsTx
	APIKeys
	Endpoints
	Deliveries
	Mails
	IdempotencyRecords
	Certificates
	EventTypes
	OperatorTokens
	Accounts
	SignIns
	DeliveryCountsTx
}

// Clock gives times and ids in commit order.
type Clock interface {
	// Now is the transaction's time, by the engine's clock.
	Now() time.Time
	// NewID gives an id that is greater than all before it with the prefix.
	NewID(prefix string) string
}

// Page is one page of a list, ready to be sent.
type Page struct {
	Items []byte // the items' JSON, with commas between them
	Count int
	Last  Cursor // position of the last item; zero on an empty page
	More  bool   // whether more items follow
}
