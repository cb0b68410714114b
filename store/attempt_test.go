package store_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// TestRetrySchedule fails every attempt of a delivery.
func TestRetrySchedule(t *testing.T) { onBoth(t, testRetrySchedule) }

func testRetrySchedule(s *subject) {
	s.Seed()
	s.Write(upload)
	id := s.Claimable()[0]
	first := s.Clock.Now()
	for attempt, minutes := range []time.Duration{1, 5, 25, 125, 625} {
		s.Equal("due", s.Claimable(), []string{id})
		ended := s.Clock.Now().Add(3*time.Second + 100*time.Microsecond)
		s.Write(recordAttempt(id, ended, 500))
		due := ended.Truncate(time.Millisecond).Add(time.Millisecond + minutes*time.Minute)
		s.Read(func(tx store.Tx) error {
			d, err := tx.Delivery(id)
			s.Equal("delivery", fmt.Sprint(d.State, d.Attempts, d.DueAt), fmt.Sprint(store.StateRetrying, attempt+1, due))
			s.Equal("first attempt", d.FirstAttemptAt, first.Add(2*time.Second))
			return err
		})
		s.Clock.Move(due.Sub(s.Clock.Now()) - time.Millisecond)
		s.Equal("due too early", s.Claimable(), []string{})
		s.Clock.Move(time.Millisecond)
	}
	s.Write(recordAttempt(id, s.Clock.Now(), 500))
	s.Clock.Move(100 * 24 * time.Hour)
	s.Equal("due after the last", s.Claimable(), []string{})
	s.Read(func(tx store.Tx) error {
		d, err := tx.Delivery(id)
		s.Equal("delivery", fmt.Sprint(d.State, d.Attempts), fmt.Sprint(store.StateFailed, 6))
		return err
	})
	s.Equal("why it is disabled", s.Endpoint("whe_1").DisabledReason, "6 failed attempts: not 2xx")
	s.Equal("who disabled it", s.Endpoint("whe_1").DisabledBy, "")
	s.Equal("each due", s.Due(), map[uint64]time.Time{})
}

// TestLastAcknowledged records outcomes in another order than they came in.
func TestLastAcknowledged(t *testing.T) { onBoth(t, testLastAcknowledged) }

func testLastAcknowledged(s *subject) {
	endpoint := s.Seed()
	ids, now := s.sendTests("whe_1", 4), s.Clock.Now()
	last := func(what string, want time.Time) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			at, err := tx.LastAcknowledged(endpoint.Number)
			s.Equal("last acknowledged "+what, at, want)
			return err
		})
	}
	last("at first", time.Time{})
	s.try(ids[0], now, 200)
	last("once", now.Add(time.Second))
	s.try(ids[1], now.Add(time.Hour), 200)
	s.try(ids[2], now.Add(time.Minute), 200)
	s.try(ids[3], now.Add(2*time.Hour), 500)
	last("of three", now.Add(time.Hour+time.Second))
	s.Reopen()
	last("of three, reopened", now.Add(time.Hour+time.Second))
}

// TestHistory has a delivery attempted in every way, and finds the attempts as
// they were, to the resolution in which they are kept.
func TestHistory(t *testing.T) { onBoth(t, testHistory) }

func testHistory(s *subject) {
	s.Seed()
	id := s.sendTests("whe_1", 1)[0]
	long := bytes.Repeat([]byte("answer. "), 1000)
	start := s.Clock.Now().Add(300 * time.Microsecond) // finer than what is kept
	tries := []store.Attempt{
		{StartedAt: start, EndedAt: start.Add(1234567 * time.Nanosecond), Status: 500, Reason: "it answered 500", Answer: long},
		{StartedAt: start.Add(time.Minute), EndedAt: start.Add(time.Minute + 15*time.Second), TimedOut: true, Reason: "it hangs"},
		{StartedAt: start.Add(time.Hour), EndedAt: start.Add(time.Hour), Status: 302, Reason: unicode, Answer: []byte(unicode)},
		{StartedAt: start.Add(2 * time.Hour), EndedAt: start.Add(2*time.Hour - time.Second), Reason: "the clock stepped back"},
		{StartedAt: start.Add(3 * time.Hour), EndedAt: start.Add(3*time.Hour + time.Millisecond), Status: 204, Answer: long[:1024]},
	}
	var want []store.Attempt
	for i, a := range tries {
		s.Write(func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, id, a, store.DefaultRetrySchedule)
			return err
		})
		if i < len(tries)-1 {
			a.NextAt = a.EndedAt.Add(store.DefaultRetrySchedule[i] + time.Millisecond).Truncate(time.Millisecond)
		}
		want = append(want, asKept(a))
		s.Equal("the history", s.delivery(id).History, want)
	}
	s.Equal("how long the first took", s.delivery(id).History[0].Took(), 1234*time.Microsecond)
	s.Equal("bytes kept of a long answer", len(s.delivery(id).History[0].Answer), 1024)
	s.Reopen()
	s.Equal("the history, reopened", s.delivery(id).History, want)
	s.latestOfMany(id)
}

// asKept is what is kept of an attempt: its start to the millisecond, how long
// it took to the microsecond, the beginning of the answer.
func asKept(a store.Attempt) store.Attempt {
	took := max(a.EndedAt.Sub(a.StartedAt).Truncate(time.Microsecond), 0)
	a.StartedAt = a.StartedAt.Truncate(time.Millisecond)
	a.EndedAt = a.StartedAt.Add(took)
	a.Answer = a.Answer[:min(len(a.Answer), 1024)]
	return a
}

// latestOfMany replays and attempts a delivery more often than is kept.
func (s *subject) latestOfMany(id string) {
	s.Helper()
	before := len(s.delivery(id).History)
	for i := range 40 {
		s.Clock.Move(time.Hour)
		s.Write(func(tx store.Tx) error {
			if _, err := store.Replay(tx, ada, acme, id); err != nil {
				return err
			}
			a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200, Answer: fmt.Append(nil, i)}
			_, err := store.RecordAttempt(tx, id, a, nil)
			return err
		})
		d := s.delivery(id)
		s.Equal(fmt.Sprintf("attempts kept of %d", before+i+1), len(d.History), min(before+i+1, 30))
		s.Equal("the latest kept", string(d.History[len(d.History)-1].Answer), fmt.Sprint(i))
	}
	s.Equal("the earliest kept", string(s.delivery(id).History[0].Answer), "10")
	s.Equal("attempts since the replay", s.delivery(id).Attempts, 1)
}

func attempted(tx store.Tx, id string, started time.Time, status int, schedule []time.Duration) (disabled bool, err error) {
	a := store.Attempt{StartedAt: started, EndedAt: started.Add(time.Second), Status: status}
	if status != 200 {
		a.Reason = "not 2xx"
	}
	return store.RecordAttempt(tx, id, a, schedule)
}

// recordAttempt is an attempt that ended at a time with a status.
func recordAttempt(id string, ended time.Time, status int) func(store.Tx) error {
	a := store.Attempt{StartedAt: ended.Add(-time.Second), EndedAt: ended, Status: status}
	if status != 200 {
		a.Reason = "not 2xx"
	}
	return func(tx store.Tx) error {
		_, err := store.RecordAttempt(tx, id, a, store.DefaultRetrySchedule)
		return err
	}
}
