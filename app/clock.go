package app

import (
	"time"

	"teamdata/store/boltstore"
)

// aheadBy is how far a stored time may be ahead of the clock.
const aheadBy = time.Minute

func aheadOf(stored, now time.Time) bool { return stored.After(now.Add(aheadBy)) }

// NewestTime returns the newest time in a data file that no server has open; zero
// if there is none.
func NewestTime(data string) (time.Time, error) { return boltstore.NewestTime(data) }

// TimeAhead returns that time, and whether it is ahead of the clock.
func TimeAhead(data string) (newest time.Time, ahead bool) {
	newest, err := NewestTime(data)
	return newest, err == nil && aheadOf(newest, time.Now())
}

// warnOfClock warns of a clock that tests move, and of one that is behind the stored
// times: new entries get times after those, whatever the clock says.
func (a *App) warnOfClock() {
	if a.settings.Clock != nil {
		a.log.Warn().Msg("this is a server for tests (--test-clock): the admin API moves its clock and resets its data")
	}
	about, err := a.store.About()
	if err == nil && aheadOf(about.Newest, about.Now) {
		a.log.Warn().Time("newest", about.Newest).Time("clock", about.Now).
			Msg("the data file holds times ahead of the clock, and new entries get times after those; is the clock right?")
	}
}
