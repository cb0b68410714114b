package app

import (
	"time"

	"teamdata/store/boltstore"
)

// aheadBy is what a stored time may be ahead of the clock.
const aheadBy = time.Minute

func aheadOf(stored, now time.Time) bool { return stored.After(now.Add(aheadBy)) }

// NewestTime is the newest time in a data file that no server has open; zero where
// there is none.
func NewestTime(data string) (time.Time, error) { return boltstore.NewestTime(data) }

// TimeAhead is that time if it is ahead of the clock.
func TimeAhead(data string) (newest time.Time, ahead bool) {
	newest, err := NewestTime(data)
	return newest, err == nil && aheadOf(newest, time.Now())
}

// warnOfClock warns when the clock is behind what is stored: what is added gets
// times after that, whatever the clock says.
func (a *App) warnOfClock() {
	about, err := a.store.About()
	if now := time.Now(); err == nil && aheadOf(about.Newest, now) {
		a.log.Warn().Time("newest", about.Newest).Time("clock", now.UTC()).
			Msg("the data file holds times ahead of the clock, and new entries get times after those; is the clock right?")
	}
}
