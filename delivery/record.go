package delivery

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// recordPause is how long to wait before an outcome that could not be written
// is written again. What it is the outcome of stays in hand meanwhile, so that
// nobody gets it over and over while the disk is full.
const recordPause = time.Second

// record writes an outcome, and does not give up before ctx is done. What has
// gone meanwhile needs none.
func record(ctx context.Context, s store.Store, log *zerolog.Logger, outcome func(store.Tx) error) {
	for {
		err := s.Update(ctx, outcome)
		if err == nil || store.IsNotFound(err) || ctx.Err() != nil {
			return
		}
		log.Error().Err(err).Msg("the outcome of an attempt can't be written; trying again")
		select {
		case <-ctx.Done():
		case <-time.After(recordPause):
		}
	}
}
