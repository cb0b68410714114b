package settings

import (
	"context"
	"time"

	"teamdata/store"
)

// asideTimeout is how long what nobody waits for may take.
const asideTimeout = 30 * time.Second

// aside changes the data after the answer, without making anybody wait, nor
// telling how long it took, and then calls done. What fails is only logged.
func (r *request) aside(what string, fn func(tx store.Tx) error, done func()) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.HTTP.Context()), asideTimeout)
	r.s.asides.Go(func() {
		defer cancel()
		if err := r.s.store.Update(ctx, fn); err != nil {
			r.s.config.Log.Warn().Err(err).Str("what", what).Msg("settings: this could not be done")
			return
		}
		done()
	})
}

// see notes that the session is in use, now and then.
func (r *request) see() {
	if r.session.ID == "" || r.now.Sub(r.session.LastSeenAt) < store.SessionSeenEvery {
		return
	}
	id := r.session.ID
	r.aside("note that a session is in use", func(tx store.Tx) error { return store.SeeSession(tx, id) }, func() {})
}
