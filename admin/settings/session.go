package settings

import "teamdata/store"

// begin begins a session of a user in the commit of what is to be done before,
// and gives the browser its cookie. The session that the browser had ends: no
// cookie that somebody else knew is worth more than before.
func (r *request) begin(userID, how string, before func(tx store.Tx) error) error {
	var cookie string
	err := r.s.store.Update(r.HTTP.Context(), func(tx store.Tx) error {
		if err := before(tx); err != nil {
			return err
		}
		if old, err := store.FindSession(tx, r.cookie()); err == nil {
			if err := store.EndSession(tx, old.UserID, old.ID); err != nil && !store.IsNotFound(err) {
				return err
			}
		}
		_, c, err := store.CreateSession(tx, userID, r.HTTP.UserAgent())
		cookie = c
		return err
	})
	if err != nil {
		return err
	}
	r.setCookie(cookie)
	r.s.config.Log.Info().Str("user", userID).Stringer("client", r.address()).Str("how", how).Msg("settings: signed in")
	return nil
}

// logRefused notes a sign-in that was refused. What a stranger typed is told only
// where it is the name of an account: it may be a password in the wrong field. One
// of too many tries makes no line: nobody fills the log.
func (r *request) logRefused(name, how string, e *store.Error) {
	if e.Code == store.CodeRateLimited {
		return
	}
	line := r.s.config.Log.Info().Stringer("client", r.address()).Str("how", how)
	if a, err := r.namedAccount(name); err == nil && a.UserID != "" {
		line = line.Str("user", a.UserID)
	}
	line.Msg("settings: a sign-in was refused")
}

// signOut ends the session in the store, and takes the cookie away.
func (r *request) signOut() error {
	err := r.change(func(tx store.Tx) error { return store.EndSession(tx, r.account.UserID, r.session.ID) })
	if err != nil {
		return err
	}
	r.setCookie("")
	r.logEnded("signed out")
	return r.done("signed-out", Path+"/sign-in")
}

func (r *request) logEnded(why string) {
	r.s.config.Log.Info().Str("user", r.account.UserID).Stringer("client", r.address()).Str("why", why).Msg("settings: a session ended")
}
