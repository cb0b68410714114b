package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
)

// TestClock is the clock of a server that is being tested. It goes on with the
// system's clock, as the zero TestClock does, or stands still, and [App.Advance] moves it
// forward. All that is stored, due or expired goes by it. Certificates, timeouts, backups,
// metrics and the Date header go by the system's clock all the same.
//
// A server with a test clock doesn't sync its data file, which a power cut may
// damage.
type TestClock struct {
	mu     sync.Mutex
	ahead  time.Duration // of the system's clock, while it runs
	stands time.Time     // where it stands; zero: it runs
}

// NewStandingClock returns a clock that stands still at a time, in whole milliseconds.
func NewStandingClock(at time.Time) *TestClock {
	return &TestClock{stands: at.Truncate(time.Millisecond).UTC()}
}

// Now returns the time.
func (c *TestClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now()
}

func (c *TestClock) now() time.Time {
	if c.stands.IsZero() {
		return time.Now().Add(c.ahead)
	}
	return c.stands
}

// moveTo moves the clock forward to a time, never back.
func (c *TestClock) moveTo(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch by := at.Sub(c.now()); {
	case by <= 0:
	case c.stands.IsZero():
		c.ahead += by
	default:
		c.stands = at
	}
}

// MaxAdvance is how far the test clock moves in one call.
const MaxAdvance = 10 * 366 * 24 * time.Hour

var errNoTestClock = hint.New("the server uses the system's clock", "start it with a test clock")

// Advance moves the test clock forward by 0 to [MaxAdvance], from each due time to
// the next: attempts, mail and the retention of data follow one another as if the
// time had passed. It returns once all that is due has been done; with 0, all that is
// due now. Replays that are running and the data of deleted orgs are done with first, in
// real time: a replay takes at most a second for each 670 deliveries. An attempt whose receiver does not answer takes its timeout of real time.
// It returns ctx's error if ctx is done first, and the clock stays where it is then.
// Run must be running.
func (a *App) Advance(ctx context.Context, d time.Duration) error {
	clock := a.settings.Clock
	switch {
	case clock == nil:
		return errNoTestClock
	case d < 0 || d > MaxAdvance:
		return hint.New(fmt.Sprintf("the test clock can't move by %s", d), "move it forward by at most ten years at once")
	}
	a.advancing.Lock()
	defer a.advancing.Unlock()
	// Elsewhere the sweep and the replays do this in the background, and nobody knows when.
	if err := errors.Join(store.RunReplays(ctx, a.store), store.DropRemoved(ctx, a.store)); err != nil {
		return err
	}
	until := clock.Now().Add(d)
	for {
		next, err := a.settle(ctx)
		if err != nil {
			return err
		}
		if next.IsZero() || next.After(until) {
			break
		}
		if err := a.moveTo(ctx, next); err != nil {
			return err
		}
	}
	if err := a.moveTo(ctx, until); err != nil {
		return err
	}
	a.writeKeyUse(ctx)
	return nil
}

// moveTo moves the test clock, and drops old records if it is time for that.
func (a *App) moveTo(ctx context.Context, at time.Time) error {
	a.settings.Clock.moveTo(at)
	a.server.Due(store.FirstPull, at)
	if at.Sub(a.advancedTo) < store.SweepEvery {
		return nil
	}
	a.advancedTo = at
	return store.Sweep(ctx, a.store, a.retention())
}

// settle waits until nothing is due, and returns when the next delivery or mail is;
// zero: none waits.
func (a *App) settle(ctx context.Context) (next time.Time, err error) {
	const retry = time.Millisecond
	for {
		if err := errors.Join(a.dispatcher.Settle(ctx), a.mailer.Settle(ctx)); err != nil {
			return next, err
		}
		next, err = a.nextDue(ctx)
		if err != nil || next.IsZero() || next.After(a.now()) {
			return next, err
		}
		select { // it came meanwhile, or the data file can't be written just now
		case <-ctx.Done():
			return next, ctx.Err()
		case <-time.After(retry):
		}
	}
}

func (a *App) nextDue(ctx context.Context) (next time.Time, err error) {
	earlier := func(at time.Time) {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	err = a.store.EachDue(ctx, func(_ uint64, at time.Time) { earlier(at) })
	if err != nil || a.settings.SMTPURL == "" {
		return next, err
	}
	const all = 1 << 20
	return next, a.store.View(ctx, func(tx store.Tx) error {
		mails, err := tx.Mails("", all)
		for _, m := range mails {
			earlier(m.DueAt)
		}
		return err
	})
}

// Reset deletes all data of a server with a test clock but its certificates, and
// fills it from --seed again, if there is one. It waits for attempts in flight, which
// leave nothing behind. The clock stays where it is, rate limits go on counting, and
// new ids still follow the old ones. If the seed can't be imported, the server is left
// empty. Run must be running.
func (a *App) Reset(ctx context.Context) error {
	if a.settings.Clock == nil {
		return errNoTestClock
	}
	a.advancing.Lock()
	defer a.advancing.Unlock()
	a.writeKeyUse(ctx) // otherwise it would be counted for the new keys
	if err := a.store.Clear(ctx); err != nil {
		return err
	}
	if _, err := a.settle(ctx); err != nil || a.settings.Seed == "" {
		return err
	}
	if err := a.seed(ctx); err != nil {
		return errors.Join(err, a.store.Clear(ctx))
	}
	return nil
}

// seed imports the seed into the open data.
func (a *App) seed(ctx context.Context) error {
	sum, err := importOpen(ctx, a.store, a.data, a.settings.Seed, nil)
	if err != nil {
		return seedError(fmt.Errorf("--seed: %w", err))
	}
	a.logFilled(sum)
	return nil
}
