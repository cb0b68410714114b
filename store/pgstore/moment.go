package pgstore

import (
	"sync/atomic"
	"time"

	"teamdata/internal/system"
)

// moment is when something was, for who wants to know how long ago. The monotonic clock
// alone doesn't tell: it stands still while the machine is suspended.
type moment struct {
	at        time.Time
	wall      time.Time     // by the machine's clock, which may be set
	suspended time.Duration // how long the machine was, until then
}

func rightNow() moment {
	now := time.Now()
	return moment{now, now.Round(0), system.Suspended()}
}

// passed is how long ago it was, whatever happened to the machine's clock.
func (m moment) passed() time.Duration {
	since, suspended := time.Since(m.at), system.Suspended()-m.suspended
	if suspended < 100*time.Millisecond { // it takes a moment to read two clocks
		return since
	}
	return since + suspended
}

// atMost is how long ago it may have been: a virtual machine that was paused learns that
// from its clock alone, when that is set.
func (m moment) atMost() time.Duration { return max(m.passed(), time.Now().Round(0).Sub(m.wall)) }

const sqlClock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"

// clock is what the database's clock said, and when.
type clock struct {
	said time.Time
	at   moment
}

// databaseClock is the database's clock, as far as it was read.
type databaseClock struct{ clock atomic.Pointer[clock] }

// setTime notes what the database's clock said just now.
func (d *databaseClock) setTime(now time.Time) { d.clock.Store(&clock{now, rightNow()}) }

// ClockOffset is how far the database's clock is ahead of this machine's.
func (d *databaseClock) ClockOffset() time.Duration {
	c := d.clock.Load()
	return c.said.Sub(c.at.wall)
}
