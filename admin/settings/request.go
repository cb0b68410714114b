package settings

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"teamdata/internal/web"
	"teamdata/store"
)

// request is one request on its way to its answer.
type request struct {
	web.Request
	s     *Settings
	route *route // nil: there is no such page

	// Known once view or change has searchResult.
	session store.Session
	account store.Account
	orgs    []store.Org // that the person manages, in the order of their ids
	org     store.Org   // of the path; zero outside of orgs
	member  store.Member
	now     time.Time // the transaction's
}

// errNoPage is what anybody gets for what is not there, and for what is another
// org's.
var errNoPage = store.Errorf(store.CodeNotFound, "There is no such page.")

// maxForm is how many bytes a form may have: instructions of 64 Ki characters,
// each of them escaped.
const maxForm = 1 << 20

// checks are what a request must pass before its route's handler sees it.
var checks = []func(*request) error{
	(*request).checkRoute,  // 404, 405
	(*request).checkOrigin, // 403
	(*request).readForm,    // 413, 400
}

// serve answers one request. Each request comes through here.
func (s *Settings) serve(common web.Request, rt *route) {
	r := &request{Request: common, s: s, route: rt}
	r.setHeaders()
	web.Serve(r, checks, (*request).handle)
	r.see()
}

func (r *request) handle() error { return r.route.handle(r) }

func (r *request) checkRoute() error {
	err := r.CheckRoute()
	if store.IsNotFound(err) {
		return errNoPage
	}
	return err
}

// checkOrigin refuses what another site made the browser send.
func (r *request) checkOrigin() error {
	if err := r.s.origin.Check(r.HTTP); err != nil {
		return store.Errorf(store.CodeForbidden, "This form was sent from another site. Open the settings page itself, and try again there.")
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
	if r.HTTP.PostForm, err = url.ParseQuery(string(body)); err != nil {
		return store.Errorf(store.CodeBadRequest, "The form could not be read.")
	}
	return nil
}

// view does fn on one moment of the data, after a look at who asks; nil: just
// the look.
func (r *request) view(fn func(tx store.Tx) error) error {
	return r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error { return r.asked(tx, fn) })
}

// change is view for what changes the data. The log tells who did it.
func (r *request) change(fn func(tx store.Tx) error) error {
	err := r.s.store.Update(r.HTTP.Context(), func(tx store.Tx) error { return r.asked(tx, fn) })
	if err == nil {
		r.s.config.Log.Info().Str("user", r.actor()).Str("org", r.org.ID).Str("route", r.Pattern).Msg("settings: changed")
	}
	return err
}

// asked runs fn once it is known who asks, and that this person manages the org
// of the path. unauthorized: nobody is signed in; notFound: the person manages no
// such org.
func (r *request) asked(tx store.Tx, fn func(tx store.Tx) error) (err error) {
	r.now = tx.Now()
	if r.session, err = store.FindSession(tx, r.cookie()); err != nil {
		return err
	}
	if r.account, err = tx.Account(r.session.UserID); err != nil {
		return err
	}
	if err := r.findOrgs(tx); err != nil || fn == nil {
		return err
	}
	return fn(tx)
}

func (r *request) findOrgs(tx store.Tx) (err error) {
	if r.orgs, err = managedOrgs(tx, r.account.UserID); err != nil {
		return err
	}
	if r.Param(orgParam) == "" {
		return nil
	}
	i := slices.IndexFunc(r.orgs, func(o store.Org) bool { return o.ID == r.Param(orgParam) })
	if i < 0 {
		return errNoPage
	}
	r.org = r.orgs[i]
	r.member, err = tx.Member(r.org.ID, r.account.UserID)
	return err
}

// actor is who stands in the audit log.
func (r *request) actor() string { return r.account.UserID }

// path is the path of a page of the org, or of its overview.
func (r *request) path(parts ...string) string { return orgPath(r.org.ID, parts...) }

// redirect leads to another page, which the browser asks for with GET.
func (r *request) redirect(path string) error {
	r.Status = http.StatusSeeOther
	http.Redirect(r.W, r.HTTP, path, http.StatusSeeOther)
	return nil
}
