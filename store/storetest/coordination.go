package storetest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"teamdata/internal/ratelimit"
	"teamdata/store"
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

// testLimiter compares what a limiter decides with one that counts in memory.
func testLimiter(s *Subject) {
	const limit, window, id = 5, time.Minute, "\x00\xff" // any bytes
	l := s.Limiter(store.Limit{Name: "requests", Max: limit, Window: window, Tracked: 10})
	other := s.Limiter(store.Limit{Name: "others", Max: 1, Window: window, Tracked: 10})
	inMemory, retry := ratelimit.New[string](limit, window, 10), time.Duration(0)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range 200 {
		s.Clock.Move([]time.Duration{0, 0, time.Millisecond, 3 * time.Second, 10 * time.Second, retry, retry - time.Millisecond, -time.Second, window}[r.IntN(9)])
		got, err := l.Take(s.Context(), id, s.Clock.Now())
		s.Code("a take", err, "")
		want := inMemory.Take(id, s.Clock.Now())
		s.Equal(fmt.Sprintf("take %d", i), got, want)
		retry = want.RetryAfter
	}
	for i, id := range []string{id, id, "other", "other"} {
		got, err := other.Take(s.Context(), id, s.Clock.Now())
		s.Code("of another limit, or id", err, "")
		s.Equal("of another limit, or id", got.OK, i%2 == 0)
	}
	for range limit {
		got, err := s.Limiter(store.Limit{Name: "none", Window: window}).Take(s.Context(), "a", s.Clock.Now())
		s.Code("without a limit", err, "")
		s.Equal("without a limit", got.OK && got.Limit == 0, true)
	}
}
