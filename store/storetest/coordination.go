package storetest

import (
	"context"
	"errors"
	"time"
)

var errOfJob = errors.New("the job is to fail")

// testCoordination holds a store to what one node gets of its coordination.
func testCoordination(s *Subject) {
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	held, err := s.Hold(ctx, "job", func(inner context.Context) error {
		within, err := s.Hold(ctx, "job", func(context.Context) error { return nil })
		s.Equal("the same job on the same node", within, true)
		s.Code("the same job on the same node", err, "")
		cancel()
		<-inner.Done()
		return errOfJob
	})
	s.Equal("held", held, true)
	s.Equal("the error of the job", errors.Is(err, errOfJob), true)

	ctx, now := s.Context(), s.Clock.Now()
	for i, row := range []struct {
		text  string
		after time.Duration
		first bool
	}{
		{"a", 0, true}, {"a", 0, false}, {"b", 0, true},
		{"a", time.Minute - time.Millisecond, false}, {"c", time.Minute - time.Millisecond, true},
		{"c", 2*time.Minute - 2*time.Millisecond, false}, {"a", 3 * time.Minute, true}, {"a", 3 * time.Minute, false},
	} {
		first, err := s.UseUp(ctx, row.text, now.Add(row.after), time.Minute)
		s.Code("using up", err, "")
		s.Equal("used up for the first time, row "+string(rune('0'+i)), first, row.first)
	}

	key, err := s.SharedKey(ctx)
	s.Code("the shared key", err, "")
	again, err := s.SharedKey(ctx)
	s.Code("the shared key again", err, "")
	s.Equal("length of the shared key", len(key), 32)
	s.Equal("the shared key again", again, key)
}
