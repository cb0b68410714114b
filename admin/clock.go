package admin

import (
	"context"
	"errors"
	"time"

	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/web"
)

// TestClock is the clock of a server for tests, and its data, which they put back.
type TestClock interface {
	Now() time.Time
	// Advance moves the clock forward by 0 or more, from one due time to the next, and
	// returns once all that became due on the way has been sent.
	Advance(ctx context.Context, by time.Duration) error
	// Reset deletes all data, operator tokens included, and reads the seed again.
	Reset(ctx context.Context) error
}

// clockEnd is what the clock doesn't pass: it is kept as how far it is ahead of the
// machine's, and durations end after 292 years.
var clockEnd = time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC)

func (r *request) readClock() error {
	r.Send(r.clock())
	return nil
}

// clock is an answer with what the clock reads now.
func (r *request) clock() store.Answer {
	now := r.api.config.TestClock.Now()
	web.SetTestClock(r.W.Header(), now)
	return ok(newObject().time("now", now).end())
}

func (r *request) advanceClock() error {
	clock, by := r.api.config.TestClock, seconds(decodeOptional[api.Advance](r).AdvanceSeconds)
	return r.long(func() (store.Answer, error) {
		if clock.Now().Add(by).After(clockEnd) {
			return store.Answer{}, store.Invalid("advanceSeconds", "is too far: the clock ends with the year 2299")
		}
		err := clock.Advance(r.HTTP.Context(), by)
		return r.clock(), err
	})
}

func (r *request) resetData() error {
	r.readOptional()
	return r.long(func() (store.Answer, error) {
		err := r.api.config.TestClock.Reset(r.HTTP.Context())
		return r.clock(), errors.Join(err, r.keepToken())
	})
}

// keepToken puts the request's operator token back after a reset, unless the seed has it:
// a program that resets the data over HTTPS could do nothing afterwards.
func (r *request) keepToken() error {
	if r.token.ID == "" {
		return nil
	}
	// Even if the client has left, or it could not come back.
	return r.api.store.Update(context.WithoutCancel(r.HTTP.Context()), store.All, func(tx store.Tx) error {
		if _, err := tx.OperatorToken(r.token.ID); !store.IsNotFound(err) {
			return err
		}
		return tx.PutOperatorToken(r.token)
	})
}
