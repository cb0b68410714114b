package admin

import (
	"context"
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
	// Reset deletes all data but the operator token of an id, empty for none, and reads the
	// seed again.
	Reset(ctx context.Context, tokenID string) error
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

// resetData keeps the operator token of the request: a program that resets the data over
// HTTPS could do nothing afterwards.
func (r *request) resetData() error {
	r.readOptional()
	return r.long(func() (store.Answer, error) {
		err := r.api.config.TestClock.Reset(r.HTTP.Context(), r.token.ID)
		return r.clock(), err
	})
}
