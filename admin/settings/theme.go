package settings

import (
	"net/http"
	"time"
)

// themeCookie keeps the browser's colours, light or dark; without it they are the
// system's.
const (
	themeCookie = "theme"
	themeAge    = 365 * 24 * time.Hour
)

// theme is the chosen one; empty: as the system has it.
func (r *request) theme() string { return themeNamed(r.CookieNamed(themeCookie)) }

func themeNamed(name string) string {
	if name == "light" || name == "dark" {
		return name
	}
	return ""
}

// setTheme chooses the colours, and leads back to the page where that was done.
func (r *request) setTheme() error {
	r.PutCookie(themeCookie, themeNamed(r.Field("theme")), "/", themeAge)
	return r.Redirect(r.LocalPath(r.Field("next")))
}

// here is the path and query of the page, without what was just done: where to come
// back to.
func (r *request) here() string {
	u := *r.HTTP.URL
	query := u.Query()
	query.Del("done")
	if u.RawQuery = query.Encode(); r.HTTP.Method != http.MethodGet {
		u.RawQuery = ""
	}
	return u.RequestURI()
}
