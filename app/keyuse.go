package app

import (
	"context"
	"time"
)

// keyUseEvery is how often it is written when keys were used last.
const keyUseEvery = time.Minute

func (a *Appliance) keepKeyUse(ctx context.Context) {
	every(ctx, keyUseEvery, func(time.Time) { a.writeKeyUse(ctx) })
}

func (a *Appliance) writeKeyUse(ctx context.Context) {
	if err := a.server.KeepKeyUse(ctx); err != nil && ctx.Err() == nil {
		a.log.Error().Err(err).Msg("the last use of keys can't be written; it is tried again")
	}
}
