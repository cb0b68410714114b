package store_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// found tells whether the key's record is found, and is as it was written.
func (s *subject) found(r store.IdempotencyRecord) (found bool) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		got, err := tx.IdempotencyRecord(r.OrgID, r.Key)
		if found = !store.IsNotFound(err); !found {
			return nil
		}
		if err == nil {
			s.Equal("record", got, r)
		}
		return err
	})
	return found
}

// TestIdempotencyRecords: a record is found as it was written, until its time is over.
func TestIdempotencyRecords(t *testing.T) { onBoth(t, testIdempotencyRecords) }

func testIdempotencyRecords(s *subject) {
	now := s.Clock.Now()
	records := []store.IdempotencyRecord{
		{OrgID: acme, Key: "k", FirstUse: now},
		{OrgID: other, Key: "k", FirstUse: now, Answer: store.Answer{Status: 404}},
		{OrgID: longID, Key: strings.Repeat("~", 255), FirstUse: now, Fingerprint: store.FingerprintOf("POST", "/", "v", nil),
			Answer: store.Answer{Status: 599, ContentType: unicode, Body: bytes.Repeat([]byte{0, 255}, 40_000)}},
		{OrgID: acme, Key: " a b ", FirstUse: now.Add(-23 * time.Hour)},
	}
	kind[store.IdempotencyRecord]{name: "IdempotencyRecords", put: store.Tx.AddIdempotencyRecord,
		get: func(tx store.Tx, r store.IdempotencyRecord) (store.IdempotencyRecord, error) {
			return tx.IdempotencyRecord(r.OrgID, r.Key)
		}}.roundTrip(s, records)

	s.Clock.Move(store.IdempotencyTTL - time.Millisecond)
	s.Equal("found before its time is over", s.found(records[0]), true)
	s.Equal("found after its time is over", s.found(records[3]), false)
	s.Clock.Move(2 * time.Millisecond)
	s.Equal("found after its time is over", s.found(records[0]), false)

	again := store.IdempotencyRecord{OrgID: acme, Key: "k", FirstUse: s.Clock.Now(), Answer: store.Answer{Status: 201}}
	s.Write(func(tx store.Tx) error { return tx.AddIdempotencyRecord(again) })
	s.Equal("used again", s.found(again), true)
}

// TestIdempotencyClockStepsBack: a record is found also when the clock stands
// before its first use.
func TestIdempotencyClockStepsBack(t *testing.T) { onBoth(t, testIdempotencyClockStepsBack) }

func testIdempotencyClockStepsBack(s *subject) {
	r := store.IdempotencyRecord{OrgID: acme, Key: "k", FirstUse: s.Clock.Now(), Answer: store.Answer{Status: 200}}
	s.Write(func(tx store.Tx) error { return tx.AddIdempotencyRecord(r) })
	for _, back := range []time.Duration{time.Millisecond, time.Minute, time.Hour, 12 * time.Hour} {
		s.Clock.Move(-back)
		s.Equal(fmt.Sprintf("found when the clock stepped back by %v", back), s.found(r), true)
	}
}

// TestExpireIdempotencyRecords drops what has expired, all of it, some at a time
// and in quiet, and nothing else.
func TestExpireIdempotencyRecords(t *testing.T) { onBoth(t, testExpireIdempotencyRecords) }

func testExpireIdempotencyRecords(s *subject) {
	const hours, limit = 40, 3
	start := s.Clock.Now()
	var records []store.IdempotencyRecord
	for hour := range hours {
		r := store.IdempotencyRecord{OrgID: acme, Key: fmt.Sprint(hour), FirstUse: start.Add(time.Duration(hour) * time.Hour)}
		records = append(records, r)
		s.Write(func(tx store.Tx) error { return tx.AddIdempotencyRecord(r) })
		s.Clock.Move(time.Hour)
	}
	dropped := s.expire(limit)
	for _, r := range records {
		s.Equal("found "+r.Key, s.found(r), r.FirstUse.Add(store.IdempotencyTTL).After(s.Clock.Now()))
	}
	s.Clock.Move(3 * store.IdempotencyTTL)
	s.Equal("dropped in the end", dropped+s.expire(limit), hours)
}

// TestIdempotencyKeys reads the keys of one org among those of others, some records
// at a time, and deletes them.
func TestIdempotencyKeys(t *testing.T) { onBoth(t, testIdempotencyKeys) }

func testIdempotencyKeys(s *subject) {
	for hour := range 10 {
		for _, org := range []string{acme, store.OperatorKeys(acme), acme + "2", other} {
			r := store.IdempotencyRecord{OrgID: org, Key: fmt.Sprint(hour), FirstUse: s.Clock.Now()}
			s.Write(func(tx store.Tx) error { return tx.AddIdempotencyRecord(r) })
		}
		s.Clock.Move(time.Hour)
	}
	count := func(org string, limit int) (n int) {
		for after, more := "", true; more; more = after != "" {
			s.Read(func(tx store.Tx) error {
				keys, last, err := tx.IdempotencyKeys(org, after, limit)
				s.Equal("not more than asked for", len(keys) <= limit, true)
				n, after = n+len(keys), last
				return err
			})
		}
		return n
	}
	for _, limit := range []int{1, 2, 7, 39, 40, 41, 1000} {
		s.Equal(fmt.Sprint("keys, looking at ", limit), count(acme, limit), 10)
	}
	s.Reopen()
	for hour := range 10 {
		s.Write(func(tx store.Tx) error { return tx.DeleteIdempotencyRecord(acme, fmt.Sprint(hour)) })
	}
	s.Write(func(tx store.Tx) error { return tx.DeleteIdempotencyRecord(acme, "none") })
	for range 2 {
		s.Equal("keys once they are deleted", count(acme, 3), 0)
		for _, org := range []string{store.OperatorKeys(acme), acme + "2", other} {
			s.Equal("keys of "+org, count(org, 3), 10)
		}
		last := store.IdempotencyRecord{OrgID: acme, Key: "9", FirstUse: s.Clock.Now().Add(-time.Hour)}
		s.Equal("a deleted one is found", s.found(last), false)
		last.OrgID = other
		s.Equal("another org's is found", s.found(last), true)
		s.Reopen()
	}
}

// expire drops idempotency records, some at a time, until nothing is left to drop.
func (s *subject) expire(limit int) (dropped int) {
	s.Helper()
	for n := 1; n > 0; dropped += n {
		s.Write(func(tx store.Tx) (err error) {
			n, err = tx.ExpireIdempotencyRecords(limit)
			return err
		})
	}
	return dropped
}
