package settings

import (
	"bytes"
	"cmp"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"

	"teamdata/admin/settings/signin"
	"teamdata/store"
	"teamdata/wire/web"
)

// request is one request on its way to its answer.
type request struct {
	signin.Request
	s     *Settings
	route *route // nil: there is no such page

	noticeName string // of the page's notice; empty: the query names it

	keys []store.IdempotencyKey // that Change uses

	people       map[string]person // that were looked up, by id
	pullers      map[string]person // API keys, likewise
	firstMembers []store.Member    // of the org; nil: not read

	// Known inside of View and Change, and after them.
	orgs []store.Org // that the person may see, in the order of their ids: as of the last View
	name string      // of the person, as their first org knows it; empty on an org's pages
	side *side       // of the path's org; nil: not loaded
}

// errNoPage answers both for a page that does not exist and for one of an org that
// the person may not see.
var errNoPage = signin.ErrNoPage

// maxForm is how many bytes a form may have: instructions of 64 Ki characters,
// each of them escaped.
const maxForm = 1 << 20

// checks are what a request must pass before its route's handler sees it.
var checks = []func(*request) error{
	(*request).checkRoute,  // 404, 405
	(*request).checkOrigin, // 403
	(*request).checkFrame,  // 401
	(*request).readForm,    // 413, 400
}

// serve answers one request. Every request passes through here.
func (s *Settings) serve(common web.Request, rt *route) {
	r := &request{Request: s.signin.Request(common), s: s, route: rt}
	r.Page = r
	r.setHeaders()
	web.Serve(r, checks, (*request).handle)
	r.TouchSession()
}

func (r *request) handle() error { return r.route.handle(r) }

func (r *request) checkRoute() error {
	err := r.CheckRoute()
	if store.IsNotFound(err) {
		return errNoPage
	}
	return err
}

// checkOrigin refuses what another site made the browser send. A browser without
// Sec-Fetch-Site names the site. The public URL's is ours, whatever the Host header says: a
// proxy may leave out its port.
func (r *request) checkOrigin() error {
	if h := r.HTTP.Header; h.Get("Sec-Fetch-Site") == "" && h.Get("Origin") == r.s.config.PublicURL {
		return nil
	}
	if err := r.s.origin.Check(r.HTTP); err != nil {
		return store.Errorf(store.CodeForbidden, "This form was sent from another site.").Advise("Open the settings page itself, and try again there.")
	}
	return nil
}

// readForm reads the form of a POST, whole: no transaction waits for a browser.
func (r *request) readForm() error {
	if r.HTTP.Method != http.MethodPost {
		return nil
	}
	body, err := r.ReadBody(maxForm)
	if err != nil {
		return err
	}
	if r.HTTP.PostForm, err = parseForm(r.HTTP.Header.Get("Content-Type"), body); err != nil {
		return store.Errorf(store.CodeBadRequest, "The form could not be read.")
	}
	return nil
}

// parseForm parses a form. In one that browsers send in parts, since it may have files, the
// text of a file is the value of its field.
func parseForm(contentType string, body []byte) (url.Values, error) {
	kind, params, _ := mime.ParseMediaType(contentType)
	if kind != "multipart/form-data" {
		return url.ParseQuery(string(body))
	}
	form := url.Values{}
	for parts := multipart.NewReader(bytes.NewReader(body), params["boundary"]); ; {
		part, err := parts.NextPart()
		if err == io.EOF { // and not one that is wrapped, of a form that is cut off
			return form, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		form.Add(part.FormName(), string(text))
	}
}

// View authorizes the request, then runs fn in a read transaction; nil: only
// authorizes it. unauthorized: nobody is signed in; notFound: the person may see
// no such org; forbidden: the person only sees it, and the route is for those who manage it.
func (r *request) View(fn func(tx store.Tx) error) error {
	return r.s.store.View(r.HTTP.Context(), r.authorized(r.findOrgs, fn))
}

// authorized is fn after the checks of a View, in which findOrg finds the org of the path.
func (r *request) authorized(findOrg, fn func(tx store.Tx) error) func(tx store.Tx) error {
	return func(tx store.Tx) error {
		if err := r.identify(tx); err != nil {
			return err
		}
		if err := findOrg(tx); err != nil {
			return err
		}
		if err := r.checkViewer(); err != nil || fn == nil {
			return err
		}
		return fn(tx)
	}
}

// Change is View with a read-write transaction. The log records who did it.
func (r *request) Change(fn func(tx store.Tx) error) error {
	err := r.viewAudited(fn)
	if err == nil {
		r.s.config.Log.Info().Str("user", r.actor()).Str("org", r.Org.ID).Str("route", r.Pattern).Msg("settings: changed")
	}
	return err
}

// viewAudited is View with a transaction that adds to the audit log what is looked at. A
// View tells its scope, which is the person and the org of the path, or without one
// all orgs of the person, or that of a portal; then the request is authorized again.
func (r *request) viewAudited(fn func(tx store.Tx) error) error {
	if r.Account.UserID == "" {
		if err := r.View(nil); err != nil {
			return err
		}
	}
	user, org := r.Account.UserID, r.Org.ID
	authorized := r.authorized(func(tx store.Tx) error { return r.EnterOrg(tx, org) }, fn)
	inOrg := cmp.Or(org, r.Session.Portal.OrgID)
	if inOrg == "" {
		return store.UpdateAs(r.HTTP.Context(), r.s.store, []string{user}, authorized)
	}
	scope := store.Scope{Orgs: []string{inOrg}, Users: append([]string{user}, r.ExtraScope.Users...), Keys: r.keys, All: r.ExtraScope.All}
	return r.s.store.Update(r.HTTP.Context(), scope, authorized)
}

// identify finds out who is signed in. forbidden: it is a portal session, and the route
// is for people with an account.
func (r *request) identify(tx store.Tx) error {
	err := r.Identify(tx)
	if err == nil && r.Session.Portal.Is() && !r.inPortal() {
		return errPortal
	}
	return err
}

// findOrgs finds the orgs that the person may see, and among them that of the path.
func (r *request) findOrgs(tx store.Tx) (err error) {
	if r.orgs, err = r.VisibleOrgs(tx); err != nil {
		return err
	}
	if r.Param(orgParam) == "" {
		return r.findName(tx)
	}
	i := slices.IndexFunc(r.orgs, func(o store.Org) bool { return o.ID == r.Param(orgParam) })
	if i < 0 {
		return errNoPage
	}
	return r.EnterOrg(tx, r.orgs[i].ID)
}

// findName finds the person's name on a page outside of an org.
func (r *request) findName(tx store.Tx) error {
	if len(r.orgs) == 0 || r.Session.Portal.Is() {
		return nil
	}
	m, err := tx.Member(r.orgs[0].ID, r.Account.UserID)
	r.name = m.Name
	return err
}

// actor is the user id for the audit log.
func (r *request) actor() string { return r.Account.UserID }

// path is the path of a page of the org, or of its overview.
func (r *request) path(parts ...string) string { return orgPath(r.Param(orgParam), parts...) }
