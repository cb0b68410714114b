package signin

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// startSession starts a session of a user, in one commit with before, and sets the
// browser's cookie. The session that the browser had ends, so that a cookie that
// somebody else knew gains nothing.
func (r *Request) startSession(userID, how string, before func(tx store.Tx) error) error {
	var cookie string
	var session store.Session
	var a store.Account
	users, err := r.usersOfSignIn(userID)
	if err != nil {
		return err
	}
	err = store.UpdateAs(r.HTTP.Context(), r.s.store, users, func(tx store.Tx) (err error) {
		if err := before(tx); err != nil {
			return err
		}
		if err := r.endOldSession(tx); err != nil {
			return err
		}
		if session, cookie, err = store.CreateSession(tx, userID, r.HTTP.UserAgent()); err != nil {
			return err
		}
		a, err = tx.Account(userID)
		return store.AuditAccount(err, tx, userID, userID, store.AuditSignedIn)
	})
	if err != nil {
		return err
	}
	r.Session, r.newCookie = session, cookie
	r.setCookie(cookie)
	r.setKnownBrowser(userID, a.PasswordHash)
	r.logEvent(userID).Str("how", how).Msg("settings: signed in")
	return nil
}

// findSession finds the session that the browser has. unauthorized: as
// [store.FindSession], or it is one of an account, in a frame.
func (r *Request) findSession(tx store.Tx) (store.Session, error) {
	s, err := store.FindSession(tx, r.cookie())
	if err == nil && r.Framed() && !s.Portal.Is() {
		return store.Session{}, ErrFrame
	}
	return s, err
}

// endOldSession ends the session that the browser had.
func (r *Request) endOldSession(tx store.Tx) error {
	old, err := r.findSession(tx)
	switch {
	case store.CodeOf(err) == store.CodeUnauthorized:
		return nil
	case err != nil:
		return err
	}
	return store.SignOut(tx, old)
}

// usersOfSignIn lists the user who signs in and the user of the browser's current session.
func (r *Request) usersOfSignIn(userID string) (users []string, err error) {
	users = []string{userID}
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		old, err := r.findSession(tx)
		if err == nil && old.UserID != userID {
			users = []string{userID, old.UserID}
		}
		if store.CodeOf(err) == store.CodeUnauthorized {
			return nil
		}
		return err
	})
	return users, err
}

// logRefused logs a refused sign-in. The name is logged only if it is that of an
// account, because people type passwords into the wrong field. A refusal by a
// rate limit is not logged, so it can't be used to fill the log.
func (r *Request) logRefused(name, how string, e *store.Error) {
	if e.Code == store.CodeRateLimited {
		return
	}
	line := r.s.config.Log.Info().Stringer("client", r.clientAddress()).Str("how", how)
	if a, _, err := r.namedAccounts(name); err == nil && a.UserID != "" {
		line = line.Str("user", a.UserID)
		r.auditStranger(a.UserID, store.AuditSignInRefused)
	}
	line.Msg("settings: a sign-in was refused")
}

// auditStranger appends an action of a person who is not signed in, after the
// answer, so that its timing doesn't reveal whether the account exists. Strangers
// can't fill the audit log: it gets one such entry per account and hour.
func (r *Request) auditStranger(userID, action string) {
	if r.s.throttle.audit.Take(strangerEntry{userID, action}, r.Now).OK {
		r.inBackground("append an audit entry", func(ctx context.Context, s store.Store) error {
			return store.UpdateAs(ctx, s, []string{userID}, func(tx store.Tx) error { return store.AuditAccount(nil, tx, "", userID, action) })
		}, func() {})
	}
}

// SignOut ends the session and deletes the cookie.
func (r *Request) SignOut() error {
	err := r.Page.Change(func(tx store.Tx) error { return store.SignOut(tx, r.Session) })
	if err != nil {
		return err
	}
	r.setCookie("")
	r.logEnded("signed out")
	if r.Framed() {
		return r.Redirect(r.s.config.Path)
	}
	return r.Page.Done("signed-out", r.s.config.Path+"/sign-in")
}

// logEvent begins a line of the log about an account.
func (r *Request) logEvent(userID string) *zerolog.Event {
	return r.s.config.Log.Info().Str("user", userID).Stringer("client", r.clientAddress())
}

func (r *Request) logEnded(why string) {
	r.logEvent(r.Account.UserID).Str("why", why).Msg("settings: a session ended")
}

// cookiePrefix begins with __Host- over HTTPS: browsers then accept the cookie
// from this host alone and only over HTTPS.
func (r *Request) cookiePrefix() string {
	if r.secure() {
		return "__Host-teamdata"
	}
	return "teamdata"
}

// secure reports whether the browser sent the request over HTTPS: to this server, or to
// the proxy of an https:// public URL.
func (r *Request) secure() bool { return r.s.secure || r.HTTP.TLS != nil }

// cookieName is the name of the session's cookie: in a frame another than outside, so
// that neither is taken for the other where a browser sends both.
func (r *Request) cookieName() string {
	if r.Framed() {
		return r.cookiePrefix() + "-portal"
	}
	return r.cookiePrefix()
}

// cookie is the value of the browser's session cookie, as this request has set it or came
// with it; may be empty.
func (r *Request) cookie() string {
	if r.newCookie != "" {
		return r.newCookie
	}
	return r.CookieNamed(r.cookieName())
}

// CookieNamed is the value of a cookie that the request came with; empty: it has none.
func (r *Request) CookieNamed(name string) string {
	c, err := r.HTTP.Cookie(name)
	if err != nil {
		return ""
	}
	return c.Value
}

// SessionUser is the user id of the browser's session, even if that has ended; empty: it
// is not known.
func (r *Request) SessionUser(tx store.Tx) string { return store.SessionUser(tx, r.cookie()) }

// ForgetSession deletes the browser's session cookie, and reports whether it had one.
func (r *Request) ForgetSession() bool {
	if r.cookie() == "" {
		return false
	}
	r.setCookie("")
	return true
}

// setCookie sets the browser's session cookie; an empty value deletes it.
func (r *Request) setCookie(value string) {
	r.PutCookie(r.cookieName(), value, "/", store.SessionAge)
}

// PutCookie sets a cookie of the browser for a time and for the paths below one; an empty
// value deletes it.
func (r *Request) PutCookie(name, value, path string, age time.Duration) {
	c := &http.Cookie{
		Name: name, Value: value, Path: path, MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: r.secure(), SameSite: http.SameSiteLaxMode,
	}
	if r.Framed() { // it is sent in a frame of another site too, but only in frames of that site
		c.SameSite, c.Partitioned = http.SameSiteNoneMode, true
	}
	if value == "" {
		c.MaxAge = -1
	}
	http.SetCookie(r.W, c)
}

// TouchSession records now and then that the session is in use. What a page asks for by
// itself is no use: a session whose page stays open would never end.
func (r *Request) TouchSession() {
	if r.Session.ID == "" || strings.HasSuffix(r.Pattern, "/live") || r.Now.Sub(r.Session.LastSeenAt) < store.SessionSeenEvery {
		return
	}
	id := r.Session.ID
	scope := store.OfUser(r.Session.UserID)
	r.inBackground("record that a session is in use", func(ctx context.Context, s store.Store) error {
		return s.Update(ctx, scope, func(tx store.Tx) error { return store.TouchSession(tx, id) })
	}, func() {})
}

// EndSession ends the session of the path, one of the person's.
func (r *Request) EndSession() error {
	id := r.Param("session")
	return r.endSessions("session-over", "by its owner", func(tx store.Tx) error { return store.EndSession(tx, r.Account.UserID, id) })
}

// EndOtherSessions ends all sessions of the person but that of the request.
func (r *Request) EndOtherSessions() error {
	return r.endSessions("sessions-over", "all others, by their owner", func(tx store.Tx) error {
		return store.EndOtherSessions(tx, r.Account.UserID, r.Session.ID)
	})
}

func (r *Request) endSessions(done, why string, end func(tx store.Tx) error) error {
	if err := r.Page.Change(end); err != nil {
		return err
	}
	r.logEnded(why)
	return r.Page.Done(done, r.s.config.Path+"/account")
}
