package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// contended is an engine whose jobs other nodes have at first.
type contended struct {
	store.Engine
	asked int
}

func (c *contended) Hold(ctx context.Context, _ string, fn func(context.Context) error) (bool, error) {
	switch c.asked++; c.asked {
	case 1:
		return false, nil
	case 2:
		return false, errors.New("the database is away")
	case 3: // and the hold is lost after a minute
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		return true, fn(ctx)
	}
	return true, fn(ctx)
}

// A job is done as soon as no other node does it, and again after the hold was lost,
// until the server stops.
func TestHold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &App{store: &contended{}, log: zerolog.Nop()}
		start := time.Now()
		var began []time.Duration
		ctx, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		a.hold(ctx, "job", func(ctx context.Context) error {
			began = append(began, time.Since(start))
			<-ctx.Done()
			return nil
		})
		if len(began) != 2 || began[0] != 2*holdAgain || began[1] != time.Minute+3*holdAgain || time.Since(start) != time.Hour {
			t.Errorf("it began after %v, and ended after %s", began, time.Since(start))
		}
	})
}

// A job is done after first, then after each pause, which includes the run itself, or after
// what next says, which doesn't; at once when it is woken; and once if it has neither.
func TestRepeat(t *testing.T) {
	const run = time.Second
	minute := func() time.Duration { return time.Minute }
	for name, row := range map[string]struct {
		job  job
		run  time.Duration
		want string // when it was done in three and a half minutes
	}{
		"at each pause":          {job{first: time.Minute, pause: time.Minute}, run, "[1m0s 2m0s 3m0s]"},
		"longer than its pause":  {job{pause: time.Minute}, 100 * time.Second, "[0s 1m40s 3m20s]"},
		"as long after each run": {job{first: 30 * time.Second, next: minute}, run, "[30s 1m31s 2m32s]"},
		"woken":                  {job{first: time.Hour, next: minute, wake: make(chan struct{})}, run, "[10s 1m11s 2m12s 3m13s]"},
		"once":                   {job{first: time.Minute}, run, "[1m0s]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log bytes.Buffer
			a := &App{log: zerolog.New(&log)}
			ctx, stop := context.WithTimeout(t.Context(), 210*time.Second)
			defer stop()
			var began []time.Duration
			start := time.Now()
			j := row.job
			if j.wake != nil {
				wake := make(chan struct{})
				j.wake = wake
				time.AfterFunc(10*time.Second, func() { wake <- struct{}{} })
			}
			j.failed = "it can't be done"
			j.do = func(ctx context.Context) error {
				began = append(began, time.Since(start))
				<-time.After(row.run)
				return errors.New("the disk is full")
			}
			a.repeat(ctx, j)
			if got := fmt.Sprint(began); got != row.want {
				t.Errorf("%s: done at %s, not %s", name, got, row.want)
			}
			logged := strings.Count(log.String(), `"error":"the disk is full","message":"it can't be done"`)
			if want := len(began); logged != want && logged != want-1 { // an error after the end is not logged
				t.Errorf("%s: %d runs failed, and the log is\n%s", name, want, &log)
			}
		})
	}
}
