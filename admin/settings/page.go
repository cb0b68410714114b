package settings

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"html"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

//go:embed templates
var templateFiles embed.FS

// pages are the templates by name: each file in templates, with the layout and
// the parts that several pages share (layout.html, parts_*.html) around it. A
// file defines "title" and "main". They are parsed on the first request for a
// page, so that the program's commands don't wait for them.
var pages = sync.OnceValue(parsePages)

// parsePages panics when a template is malformed, which every test of a page finds.
func parsePages() map[string]*template.Template {
	shared := template.Must(template.New("").Funcs(templateFuncs).Option("missingkey=error").
		ParseFS(templateFiles, "templates/layout.html", "templates/parts_*.html"))
	files, err := fs.Glob(templateFiles, "templates/*.html")
	if err != nil {
		panic(err)
	}
	found := map[string]*template.Template{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "layout" || strings.HasPrefix(name, "parts_") {
			continue
		}
		found[name] = template.Must(template.Must(shared.Clone()).ParseFS(templateFiles, file))
	}
	return found
}

// layout is the data of layout.html, and of each page in it.
type layout struct {
	Title        string
	Main         template.HTML // the page's own part, rendered
	Section      string        // of the navigation, such as keys; empty outside of an org
	Account      *store.Account
	Name         string      // of the person, as the org knows it; or else the address or the user id
	Org          *store.Org  // nil outside of an org
	Orgs         []store.Org // that the person may see
	Portal       bool        // the person has no account here
	Framed       bool        // the page is shown in a frame
	Manages      bool        // the person manages the org: owner or admin, not viewer
	Side         *side       // nil outside of an org
	Notice       string      // what has just been done; may be empty
	OfferPasskey bool        // the notice leads to adding one
	Theme        string      // light or dark; empty: as the system has it
	Here         string      // path and query of the page
	Version      string
	Clock        time.Time // of a server for tests; zero: it is none
	Zone         string    // IANA name of the zone in which the page's times are
	ZoneAs       string    // how the page's foot names it
	Page         any       // the data of the page's own template
	Brand        string    // the operator's name for the page; empty: it has teamdata's
	Favicon      template.URL
	assetList
}

// Render answers with a page. It renders the whole page before it sends a byte, so
// that none is sent in half.
func (r *request) Render(status int, name string, page any) error {
	if r.Org.ID != "" && r.side == nil {
		if err := r.s.store.View(r.HTTP.Context(), r.loadSide); err != nil {
			return err
		}
	}
	l := r.layout(page)
	var title, main, whole bytes.Buffer
	if err := pages()[name].ExecuteTemplate(&title, "title", l); err != nil {
		return err
	}
	if err := pages()[name].ExecuteTemplate(&main, "main", l); err != nil {
		return err
	}
	l.Title, l.Main = html.UnescapeString(strings.TrimSpace(title.String())), template.HTML(main.String())
	if bytes.Contains(main.Bytes(), []byte(`<div class="errors"`)) {
		l.Title = "Error: " + strings.TrimPrefix(l.Title, "Error: ")
	}
	if err := pages()[name].ExecuteTemplate(&whole, "layout", l); err != nil {
		return err
	}
	r.rememberOrg()
	const before = `<a class="skip"`
	r.sendHTML(status, bytes.Replace(whole.Bytes(), []byte(before), append(sprite(whole.Bytes()), before...), 1))
	return nil
}

// sendHTML completes a rendered page for who sees it. It compresses it only where its length can't give anything away: a page with a
// query may hold text that another site has chosen, and an answer to a form may hold a
// secret beside the text that was typed.
func (r *request) sendHTML(status int, body []byte) {
	if r.Org.ID != "" && !r.Member.Manages() {
		body = withoutForms(body)
	}
	body = showTimes(body, r.zone(), r.clock())
	r.W.Header().Add("Vary", "Accept-Encoding")
	if r.HTTP.Method == http.MethodGet && r.HTTP.URL.RawQuery == "" && takesGzip(r.HTTP.Header) {
		if zipped := compress(body); zipped != nil {
			r.W.Header().Set("Content-Encoding", "gzip")
			body = zipped
		}
	}
	r.Send(store.Answer{Status: status, ContentType: "text/html; charset=utf-8", Body: body})
}

func (r *request) layout(page any) layout {
	l := layout{
		Section: r.section(), Orgs: r.orgs, Side: r.side, Notice: r.notice(), Theme: r.theme(), Here: r.here(), Version: r.s.config.Version, Page: page,
		Portal: r.Session.Portal.Is(), Framed: r.Framed(), Brand: r.s.config.Brand.Name, Favicon: favicon(r.s.config.Brand, r.side != nil && r.side.Trouble), assetList: r.s.assets(),
	}
	l.OfferPasskey = r.HTTP.URL.Query().Get("done") == "welcome" && r.HasPasskeys()
	l.Zone, l.ZoneAs = r.zone().String(), formatZone(r.zone(), r.clock())
	if r.s.config.TestClock != nil {
		l.Clock = r.s.config.TestClock()
	}
	if r.Account.UserID != "" {
		l.Account, l.Name = &r.Account, cmp.Or(r.Member.Name, r.name, r.Account.Email, r.Account.UserID)
	}
	if r.Org.ID != "" {
		l.Org, l.Manages = &r.Org, r.Member.Manages()
	}
	return l
}

// Show answers with a page that load fills in from the data; nil: the page needs
// nothing but who is signed in. A live route gets the part progress of the page.
func (r *request) Show(status int, name string, page any, load func(tx store.Tx) error) error {
	err := r.View(func(tx store.Tx) error {
		if load != nil {
			if err := load(tx); err != nil {
				return err
			}
		}
		if r.isLive() {
			return nil
		}
		return r.loadSide(tx)
	})
	switch {
	case err != nil:
		return err
	case r.isLive():
		return r.send(status, name, "progress", page)
	}
	return r.Render(status, name, page)
}

// isLive reports whether the route is for the parts of a page that change while it is open,
// which the script asks for.
func (r *request) isLive() bool { return strings.HasSuffix(r.Pattern, "/live") }

// showFiltered is Show for a list whose filter may be wrong in a field: the page says so.
func (r *request) showFiltered(name string, page any, wrong **store.Error, load func(tx store.Tx) error) error {
	err := r.Show(http.StatusOK, name, page, load)
	if e, ok := errors.AsType[*store.Error](err); ok && e.Field != "" && e.Code == store.CodeBadRequest {
		*wrong = e
		return r.Render(e.Code.Status(), name, page)
	}
	return err
}

// send answers with a part of a page, by the name of its template there, and with
// the icons that it uses.
func (r *request) send(status int, page, part string, data any) error {
	var body bytes.Buffer
	if err := pages()[page].ExecuteTemplate(&body, part, data); err != nil {
		return err
	}
	r.sendHTML(status, append(sprite(body.Bytes()), body.Bytes()...))
	return nil
}

// Script answers a request of the script with JSON. Of an error it has the field
// message.
func (r *request) Script(do func() (answer any, err error)) error {
	status := http.StatusOK
	answer, err := do()
	if err != nil {
		e := web.LogFault(r, err)
		message := e.Text()
		if e.Field != "" {
			message = errorSentence(e)
		}
		status, answer = e.Code.Status(), map[string]string{"message": message}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	r.Send(web.JSON(status, body))
	return nil
}

// section is the part of the navigation that the page belongs to: what follows
// the org in the route's path.
func (r *request) section() string {
	rest, ok := strings.CutPrefix(r.Pattern, Path+"/orgs/:org")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(rest, "/"), "/")
	if belongs, ok := sections[name]; ok {
		return belongs
	}
	return name
}

// sections are the sections of pages whose paths begin with another name.
var sections = map[string]string{
	"": "overview", "new-endpoint": "endpoints", "deliveries": "endpoints", "replay": "endpoints", "replays": "endpoints", "new-key": "keys", "new-member": "members",
	"event-types": "events", "first-hour": "overview",
}

// notices are a page's messages after an action, by the query parameter done. The
// texts are fixed, so that a made-up link can't make the page say anything else.
var notices = map[string]string{
	"signed-out":       "You are signed out.",
	"session-ended":    "You were signed out, because your session has ended or you may no longer see any org. An owner of an org can give you a role again.",
	"draft-carried":    "You were signed out. Sign in again to get back what you typed.",
	"draft-kept":       "You were signed out. What you typed is still here, but was not saved.",
	"welcome":          "Your password is set, and you are signed in.",
	"password-changed": "Your password was changed. You are signed out everywhere else.",
	"passkey-added":    "The passkey was added. You can now sign in with it.",
	"passkey-removed":  "The passkey was removed.",
	"session-over":     "The session was ended.",
	"sessions-over":    "All other sessions were ended.",

	"key-revoked":            "The key was revoked.",
	"member-invited":         "The invitation is sent by mail.",
	"role-changed":           "The role was changed.",
	"member-removed":         "The member was removed.",
	"instructions-saved":     "The instructions were saved.",
	"instructions-unchanged": "Nothing was changed.",
	"instructions-cleared":   "The instructions were cleared.",

	"endpoint-updated":  "The endpoint was updated.",
	"endpoint-enabled":  "The endpoint is enabled. Held deliveries are sent in order.",
	"endpoint-disabled": "The endpoint is disabled. Its events are held until it is enabled.",
	"endpoint-deleted":  "The endpoint was deleted.",
	"secret-rotated":    "The secret was rotated. Give the new one to the receiver.",
	"replay-cancelled":  "The rest is not retried.",
}

func (r *request) notice() string {
	return notices[cmp.Or(r.noticeName, r.HTTP.URL.Query().Get("done"))]
}

// Done redirects to a page that shows what was done.
func (r *request) Done(what, path string) error { return r.Redirect(path + "?done=" + what) }

// do changes the data and redirects to a page that shows what was done.
func (r *request) do(what, path string, fn func(tx store.Tx) error) error {
	if err := r.Change(fn); err != nil {
		return err
	}
	return r.Done(what, path)
}

// setHeaders sets the headers of every answer: a page loads nothing from elsewhere,
// is not framed unless that is allowed, runs nothing inline, and is not cached.
func (r *request) setHeaders() {
	h := r.W.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors "+r.ancestors())
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
	if !r.Framed() {
		h.Set("X-Frame-Options", "DENY")
	}
}
