package storetest

import (
	"bytes"
	"fmt"
	"time"

	"teamdata/store"
)

// testHistory has a delivery attempted in every way, and finds the attempts as
// they were, to the resolution in which they are kept.
func testHistory(s *subject) {
	s.seed()
	id := s.sendTests("whe_1", 1)[0]
	long := bytes.Repeat([]byte("answer. "), store.MaxKeptAnswer)
	start := s.clock.now().Add(300 * time.Microsecond) // finer than what is kept
	tries := []store.Attempt{
		{StartedAt: start, EndedAt: start.Add(1234567 * time.Nanosecond), Status: 500, Reason: "it answered 500", Answer: long},
		{StartedAt: start.Add(time.Minute), EndedAt: start.Add(time.Minute + 15*time.Second), TimedOut: true, Reason: "it hangs"},
		{StartedAt: start.Add(time.Hour), EndedAt: start.Add(time.Hour), Status: 302, Reason: unicode, Answer: []byte(unicode)},
		{StartedAt: start.Add(2 * time.Hour), EndedAt: start.Add(2*time.Hour - time.Second), Reason: "the clock stepped back"},
		{StartedAt: start.Add(3 * time.Hour), EndedAt: start.Add(3*time.Hour + time.Millisecond), Status: 204, Answer: long[:store.MaxKeptAnswer]},
	}
	var want []store.Attempt
	for i, a := range tries {
		s.update(func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, id, a, store.DefaultRetrySchedule)
			return err
		})
		if i < len(tries)-1 {
			a.NextAt = a.EndedAt.Add(store.DefaultRetrySchedule[i] + time.Millisecond).Truncate(time.Millisecond)
		}
		want = append(want, asKept(a))
		s.equal("the history", s.delivery(id).History, want)
	}
	s.equal("how long the first took", s.delivery(id).History[0].Took(), 1234*time.Microsecond)
	s.equal("bytes kept of a long answer", len(s.delivery(id).History[0].Answer), 1024)
	s.reopen()
	s.equal("the history, reopened", s.delivery(id).History, want)
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
		s.clock.move(time.Hour)
		s.update(func(tx store.Tx) error {
			if _, err := store.Replay(tx, ada, acme, id); err != nil {
				return err
			}
			a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200, Answer: fmt.Append(nil, i)}
			_, err := store.RecordAttempt(tx, id, a, nil)
			return err
		})
		d := s.delivery(id)
		s.equal(fmt.Sprintf("attempts kept of %d", before+i+1), len(d.History), min(before+i+1, 30))
		s.equal("the latest kept", string(d.History[len(d.History)-1].Answer), fmt.Sprint(i))
	}
	s.equal("the earliest kept", string(s.delivery(id).History[0].Answer), "10")
	s.equal("attempts since the replay", s.delivery(id).Attempts, 1)
}
