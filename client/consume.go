package teamdata

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Consumer says from which endpoint events are pulled, and what handles them.
type Consumer struct {
	// Endpoint is the id of an endpoint of the kind pull, such as whe_1.
	Endpoint string
	// Verifier verifies each delivery with the secrets of the endpoint.
	Verifier *Verifier
	// Handle handles an event. When it returns nil, the delivery is acknowledged. Returns it
	// an error, or panics, the delivery is given back with that as the reason, and comes again
	// by the schedule of retries: after 1, 5, 25, 125 and 625 minutes. An event may come more
	// than once; skip an ID that was handled. ctx ends Grace after that of Consume.
	Handle func(ctx context.Context, e Event) error

	// Parallel is how many events are handled at once, 1 to 100; 0 is 1. With 1 they are
	// handled in the order of their commits, but for those that come again.
	Parallel int
	// Limit is how many deliveries a pull has at most, 1 to 100; 0 is 100. The first asks for
	// as many as are handled at once, and the next for twice as many while they are handled
	// within a second: slow handlers leave the rest to other consumers.
	Limit int
	// Lease is for how long a delivery is this consumer's, in whole seconds, 5 s to an hour; 0
	// is a minute. It is extended when half of it is over, until the event is handled. If the
	// consumer is gone, its deliveries come again when their leases end.
	Lease time.Duration
	// Grace is how long handlers may take to finish when the consumer stops; 0 is 20 s.
	Grace time.Duration
	// Refused is called with each event that is given back, and why: what Handle returned, a
	// [*HandlerPanic], or an error that is [ErrNotVerified], whose event has only an ID, a
	// Header and a Body. It may be called by several goroutines at once. nil: nobody is told.
	Refused func(e Event, err error)
}

// HandlerPanic is the error of a handler that panicked.
type HandlerPanic struct {
	Value any
	Stack []byte
}

func (p *HandlerPanic) Error() string { return fmt.Sprintf("the handler panicked: %v", p.Value) }

// Consume pulls events from an endpoint, verifies and handles them, until ctx is done. The key
// of the client needs the scope receive.
//
// What was handled is acknowledged by the next pull, or after a second if that one waits. A
// pull without an answer, or answered with 429 or a status of 500 and above, is made again:
// after the server's Retry-After, or else after 0.5 s, 1 s, 2 s and so on up to a minute, each
// shortened at random by up to a half; so is one that is a [CodeConflict], by which an endpoint
// that was disabled meanwhile is waited for. [Config].Retrying is told of each, and may end it.
//
// Once ctx is done nothing more is pulled; what is being handled is finished and acknowledged,
// and the rest comes again within 5 s, to any consumer. Then Consume returns nil. It returns an
// error if that took longer than the Grace and 10 s more, or at once if something is wrong that
// waiting does not cure: a field of the Consumer, a certificate that is not trusted, or an
// [*Error], such as [CodeUnauthorized] when the key was revoked.
func (c *Client) Consume(ctx context.Context, from Consumer) error {
	if err := from.complete(); err != nil {
		return err
	}
	return newConsuming(ctx, c, from).run()
}

// Bounds of a Consumer.
const (
	maxParallel  = 100
	maxLimit     = 100
	minLease     = 5 * time.Second
	maxLease     = time.Hour
	defaultLease = time.Minute
	defaultGrace = 20 * time.Second
)

// complete sets what was left out, and checks the rest.
func (c *Consumer) complete() error {
	orDefault := func(set *int, otherwise int) {
		if *set == 0 {
			*set = otherwise
		}
	}
	orDefault(&c.Parallel, 1)
	orDefault(&c.Limit, maxLimit)
	if c.Lease == 0 {
		c.Lease = defaultLease
	}
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	if c.Refused == nil {
		c.Refused = func(Event, error) {}
	}
	switch {
	case c.Verifier == nil:
		return errors.New("the consumer has no Verifier: make one of the endpoint's secret with NewVerifier")
	case c.Handle == nil:
		return errors.New("the consumer has no Handle")
	case c.Parallel < 1 || c.Parallel > maxParallel:
		return fmt.Errorf("the consumer's Parallel is %d; it must be 1 to %d", c.Parallel, maxParallel)
	case c.Limit < 1 || c.Limit > maxLimit:
		return fmt.Errorf("the consumer's Limit is %d; it must be 1 to %d", c.Limit, maxLimit)
	case c.Lease < minLease || c.Lease > maxLease || c.Lease%time.Second != 0:
		return fmt.Errorf("the consumer's Lease is %s; it must be %s to %s, in whole seconds", c.Lease, minLease, maxLease)
	case c.Grace < 0:
		return fmt.Errorf("the consumer's Grace is %s; it must not be negative", c.Grace)
	}
	return nil
}
