package app

import (
	"context"
	"errors"
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
		a.hold(ctx, "job", func(ctx context.Context) {
			began = append(began, time.Since(start))
			<-ctx.Done()
		})
		if len(began) != 2 || began[0] != 2*holdAgain || began[1] != time.Minute+3*holdAgain || time.Since(start) != time.Hour {
			t.Errorf("it began after %v, and ended after %s", began, time.Since(start))
		}
	})
}
