package settings

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/julienschmidt/httprouter"

	"teamdata/internal/web"
	"teamdata/store"
)

// visit is one request on its way to its answer.
type visit struct {
	s      *Settings
	w      http.ResponseWriter
	r      *http.Request
	route  *route // nil: there is no such page
	params httprouter.Params
	sent   bool // the answer has begun

	// Known once view or change has looked.
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
var checks = [...]func(*visit) error{
	(*visit).checkRoute,  // 404, 405
	(*visit).checkOrigin, // 403
	(*visit).readForm,    // 413, 400
}

// serve answers one request. Each request comes through here.
func (s *Settings) serve(w http.ResponseWriter, r *http.Request, rt *route, params httprouter.Params) {
	v := &visit{s: s, w: w, r: r, route: rt, params: params}
	v.setHeaders()
	defer v.recoverPanic()
	if err := v.run(); err != nil {
		v.fail(err)
	}
	v.see()
}

func (v *visit) run() error {
	for _, check := range checks {
		if err := check(v); err != nil {
			return err
		}
	}
	return v.route.handle(v)
}

func (v *visit) checkRoute() error {
	if v.route != nil && !web.HasEmpty(v.params) {
		return nil
	}
	err := web.NoRoute(v.s.router, v.r.URL.Path, Path, "", v.w.Header())
	if store.IsNotFound(err) {
		return errNoPage
	}
	return err
}

// checkOrigin refuses what another site made the browser send.
func (v *visit) checkOrigin() error {
	if err := v.s.origin.Check(v.r); err != nil {
		return store.Errorf(store.CodeForbidden, "This form was sent from another site. Open the settings page itself, and try again there.")
	}
	return nil
}

// readForm reads the form of a POST, whole: no transaction waits for a browser.
func (v *visit) readForm() error {
	if v.r.Method != http.MethodPost {
		return nil
	}
	body, err := web.ReadBody(v.w, v.r, maxForm)
	if err != nil {
		return err
	}
	if v.r.PostForm, err = url.ParseQuery(string(body)); err != nil {
		return store.Errorf(store.CodeBadRequest, "The form could not be read.")
	}
	return nil
}

// view does fn on one moment of the data, after a look at who asks; nil: just
// the look.
func (v *visit) view(fn func(tx store.Tx) error) error {
	return v.s.store.View(v.r.Context(), func(tx store.Tx) error { return v.asked(tx, fn) })
}

// change is view for what changes the data. The log tells who did it.
func (v *visit) change(fn func(tx store.Tx) error) error {
	err := v.s.store.Update(v.r.Context(), func(tx store.Tx) error { return v.asked(tx, fn) })
	if err == nil {
		v.s.config.Log.Info().Str("user", v.actor()).Str("org", v.org.ID).Str("route", v.pattern()).Msg("settings: changed")
	}
	return err
}

// asked runs fn once it is known who asks, and that this person manages the org
// of the path. unauthorized: nobody is signed in; notFound: the person manages no
// such org.
func (v *visit) asked(tx store.Tx, fn func(tx store.Tx) error) (err error) {
	v.now = tx.Now()
	if v.session, err = store.FindSession(tx, v.cookie()); err != nil {
		return err
	}
	if v.account, err = tx.Account(v.session.UserID); err != nil {
		return err
	}
	if err := v.findOrgs(tx); err != nil || fn == nil {
		return err
	}
	return fn(tx)
}

func (v *visit) findOrgs(tx store.Tx) (err error) {
	if v.orgs, err = managedOrgs(tx, v.account.UserID); err != nil {
		return err
	}
	if v.param(orgParam) == "" {
		return nil
	}
	i := slices.IndexFunc(v.orgs, func(o store.Org) bool { return o.ID == v.param(orgParam) })
	if i < 0 {
		return errNoPage
	}
	v.org = v.orgs[i]
	v.member, err = tx.Member(v.org.ID, v.account.UserID)
	return err
}

// actor is who stands in the audit log.
func (v *visit) actor() string { return v.account.UserID }

// param is a parameter of the path; empty when it has none of that name.
func (v *visit) param(name string) string { return v.params.ByName(name) }

// path is the path of a page of the org, or of its overview.
func (v *visit) path(parts ...string) string { return orgPath(v.org.ID, parts...) }

// redirect leads to another page, which the browser asks for with GET.
func (v *visit) redirect(path string) error {
	v.sent = true
	http.Redirect(v.w, v.r, path, http.StatusSeeOther)
	return nil
}
