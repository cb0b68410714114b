package settings

import "teamdata/store"

// begin begins a session of a user in the commit of what is to be done before,
// and gives the browser its cookie. The session that the browser had ends: no
// cookie that somebody else knew is worth more than before.
func (v *visit) begin(userID, how string, before func(tx store.Tx) error) error {
	var cookie string
	err := v.s.store.Update(v.r.Context(), func(tx store.Tx) error {
		if err := before(tx); err != nil {
			return err
		}
		if old, err := store.FindSession(tx, v.cookie()); err == nil {
			if err := store.EndSession(tx, old.UserID, old.ID); err != nil && !store.IsNotFound(err) {
				return err
			}
		}
		_, c, err := store.CreateSession(tx, userID, v.r.UserAgent())
		cookie = c
		return err
	})
	if err != nil {
		return err
	}
	v.setCookie(cookie)
	v.s.config.Log.Info().Str("user", userID).Stringer("client", v.address()).Str("how", how).Msg("settings: signed in")
	return nil
}

// logRefused notes a sign-in that was refused. What a stranger typed is told only
// where it is the name of an account: it may be a password in the wrong field. One
// of too many tries makes no line: nobody fills the log.
func (v *visit) logRefused(name, how string, e *store.Error) {
	if e.Code == store.CodeRateLimited {
		return
	}
	line := v.s.config.Log.Info().Stringer("client", v.address()).Str("how", how)
	if a, err := v.namedAccount(name); err == nil && a.UserID != "" {
		line = line.Str("user", a.UserID)
	}
	line.Msg("settings: a sign-in was refused")
}

// signOut ends the session in the store, and takes the cookie away.
func (v *visit) signOut() error {
	err := v.change(func(tx store.Tx) error { return store.EndSession(tx, v.account.UserID, v.session.ID) })
	if err != nil {
		return err
	}
	v.setCookie("")
	v.logEnded("signed out")
	return v.done("signed-out", Path+"/sign-in")
}

func (v *visit) logEnded(why string) {
	v.s.config.Log.Info().Str("user", v.account.UserID).Stringer("client", v.address()).Str("why", why).Msg("settings: a session ended")
}
