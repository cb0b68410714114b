package storetest

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

// found tells whether the key's record is found, and is as it was written.
func (s *subject) found(r store.IdempotencyRecord) (found bool) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		got, err := tx.IdempotencyRecord(r.OrgID, r.Key)
		if store.IsNotFound(err) {
			return nil
		}
		s.equal("record", got, r)
		found = true
		return err
	})
	return found
}

func testIdempotencyRecords(s *subject) {
	now := s.clock.now()
	records := []store.IdempotencyRecord{
		{OrgID: acme, Key: "k", FirstUse: now},
		{OrgID: other, Key: "k", FirstUse: now, Answer: store.Answer{Status: 404}},
		{OrgID: longID, Key: strings.Repeat("~", 255), FirstUse: now, Fingerprint: store.FingerprintOf("POST", "/", "v", nil),
			Answer: store.Answer{Status: 599, ContentType: unicode, Body: bytes.Repeat([]byte{0, 255}, 40_000)}},
		{OrgID: acme, Key: " a b ", FirstUse: now.Add(-23 * time.Hour)},
	}
	roundTrip(s, records, func(tx store.Tx, r store.IdempotencyRecord) error { return tx.AddIdempotencyRecord(r) },
		func(tx store.Tx, r store.IdempotencyRecord) (store.IdempotencyRecord, error) {
			return tx.IdempotencyRecord(r.OrgID, r.Key)
		})

	s.clock.move(store.IdempotencyTTL - time.Millisecond)
	s.equal("found before its time is over", s.found(records[0]), true)
	s.equal("found after its time is over", s.found(records[3]), false)
	s.clock.move(2 * time.Millisecond)
	s.equal("found after its time is over", s.found(records[0]), false)

	again := store.IdempotencyRecord{OrgID: acme, Key: "k", FirstUse: s.clock.now(), Answer: store.Answer{Status: 201}}
	s.update(func(tx store.Tx) error { return tx.AddIdempotencyRecord(again) })
	s.equal("used again", s.found(again), true)
}

// testIdempotencyClockStepsBack: a record is found also when the clock stands
// before its first use.
func testIdempotencyClockStepsBack(s *subject) {
	r := store.IdempotencyRecord{OrgID: acme, Key: "k", FirstUse: s.clock.now(), Answer: store.Answer{Status: 200}}
	s.update(func(tx store.Tx) error { return tx.AddIdempotencyRecord(r) })
	for _, back := range []time.Duration{time.Millisecond, time.Minute, time.Hour, 12 * time.Hour} {
		s.clock.move(-back)
		s.equal(fmt.Sprintf("found when the clock stepped back by %v", back), s.found(r), true)
	}
}

// testExpireIdempotencyRecords drops what has expired, all of it, some at a time
// and in quiet, and nothing else.
func testExpireIdempotencyRecords(s *subject) {
	const hours, limit = 40, 3
	start := s.clock.now()
	var records []store.IdempotencyRecord
	for hour := range hours {
		r := store.IdempotencyRecord{OrgID: acme, Key: fmt.Sprint(hour), FirstUse: start.Add(time.Duration(hour) * time.Hour)}
		records = append(records, r)
		s.update(func(tx store.Tx) error { return tx.AddIdempotencyRecord(r) })
		s.clock.move(time.Hour)
	}
	dropped := s.expire(limit)
	for _, r := range records {
		s.equal("found "+r.Key, s.found(r), r.FirstUse.Add(store.IdempotencyTTL).After(s.clock.now()))
	}
	s.clock.move(3 * store.IdempotencyTTL)
	s.equal("dropped in the end", dropped+s.expire(limit), hours)
}

// expire drops records until nothing is left to drop.
func (s *subject) expire(limit int) (dropped int) {
	s.Helper()
	for n := 1; n > 0; dropped += n {
		s.update(func(tx store.Tx) (err error) {
			n, err = tx.ExpireIdempotencyRecords(limit)
			return err
		})
		if n > limit {
			s.Fatalf("%d records were dropped at once, above the limit %d", n, limit)
		}
	}
	return dropped
}
