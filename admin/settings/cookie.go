package settings

import (
	"net/http"

	"teamdata/store"
)

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
