package settings

import (
	"net/http"

	"teamdata/store"
)

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

// cookieName is __Host- where it can be: such a cookie can't come from another
// host, nor over plain HTTP.
func (s *Settings) cookieName() string {
	if s.secure {
		return "__Host-teamdata"
	}
	return "teamdata"
}

// cookie is the session's of the request; empty when there is none.
func (r *request) cookie() string {
	c, err := r.HTTP.Cookie(r.s.cookieName())
	if err != nil {
		return ""
	}
	return c.Value
}

// setCookie gives the browser a session's cookie; an empty value takes it away.
func (r *request) setCookie(value string) {
	c := &http.Cookie{
		Name: r.s.cookieName(), Value: value, Path: "/", MaxAge: int(store.SessionAge.Seconds()),
		HttpOnly: true, Secure: r.s.secure, SameSite: http.SameSiteLaxMode,
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(r.W, c)
}

// see notes that the session is in use, now and then.
func (r *request) see() {
	if r.session.ID == "" || r.now.Sub(r.session.LastSeenAt) < store.SessionSeenEvery {
		return
	}
	id := r.session.ID
	r.inBackground("note that a session is in use", func(tx store.Tx) error { return store.SeeSession(tx, id) }, func() {})
}

// endSession ends a session of the person's own.
func (r *request) endSession() error {
	id := r.Param(sessionParam)
	err := r.change(func(tx store.Tx) error { return store.EndSession(tx, r.account.UserID, id) })
	if err != nil {
		return err
	}
	r.logEnded("by its owner")
	return r.done("session-over", Path+"/account")
}

func (r *request) endOtherSessions() error {
	err := r.change(func(tx store.Tx) error { return store.EndOtherSessions(tx, r.account.UserID, r.session.ID) })
	if err != nil {
		return err
	}
	r.logEnded("all others, by their owner")
	return r.done("sessions-over", Path+"/account")
}
