package signin

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

// Page is what the handlers need of the settings page.
type Page interface {
	// Render answers with a page, by the name of its template.
	Render(status int, name string, data any) error
	// Show is Render for a page that load fills in from the data, inside of View; nil: it
	// needs nothing but who is signed in.
	Show(status int, name string, data any, load func(tx store.Tx) error) error
	// Script answers a request of the page's script with JSON: what do returns, or of
	// its error the message.
	Script(do func() (answer any, err error)) error
	// Done redirects to a page that shows what was done.
	Done(what, path string) error

	// View authorizes the request, then runs fn in a read transaction; nil: only
	// authorizes it. unauthorized: nobody is signed in; forbidden: the person came by a
	// portal link, and the route is for people with an account.
	View(fn func(tx store.Tx) error) error
	// Change is View with a read-write transaction, of which the log records who did it.
	Change(fn func(tx store.Tx) error) error
	// ChangeOnce is Change for a form that does nothing when it is sent again: kept is then
	// what fn returned the first time.
	ChangeOnce(fn func(tx store.Tx) (kept string, err error)) (kept string, again bool, err error)

	// Draft is the form without a session that the sign-in form carries, sealed; empty:
	// it carries none.
	Draft() string
	// AfterSignIn answers with that form, or redirects to the page that the person wanted.
	AfterSignIn() error
}

// Request is the part of a request of the settings page that is about its sender.
type Request struct {
	web.Request
	Page Page // whose request it is
	s    *Service

	// Known after Identify.
	Session store.Session
	Account store.Account
	Now     time.Time // the transaction's

	// Known after EnterOrg.
	Org    store.Org // of the path; zero outside of orgs
	Member store.Member

	ExtraScope store.Scope // what the page's Change writes, beyond the person and the org of the path

	passkeyOf string // user id that a passkey's answer names; anybody's
	newCookie string // the cookie of the session that this request has set; empty: none
}

// Request begins a request. The caller sets its Page.
func (s *Service) Request(common web.Request) Request { return Request{Request: common, s: s} }

// Identify finds out who is signed in. unauthorized: nobody is, or the session no
// longer holds.
func (r *Request) Identify(tx store.Tx) (err error) {
	r.Now = tx.Now()
	if r.Session, err = r.findSession(tx); err != nil {
		return err
	}
	if r.Session.Portal.Is() {
		return r.identifyPortal(tx)
	}
	r.Account, err = tx.Account(r.Session.UserID)
	return err
}

// VisibleOrgs are the orgs that the person may see, in the order of their ids. A portal
// session has one.
func (r *Request) VisibleOrgs(tx store.Tx) ([]store.Org, error) {
	if portal := r.Session.Portal; portal.Is() {
		org, err := tx.Org(portal.OrgID)
		return []store.Org{org}, err
	}
	return visibleOrgs(tx, r.Account.UserID)
}

// visibleOrgs are the orgs that a user may see, in the order of their ids.
func visibleOrgs(tx store.Tx, userID string) (orgs []store.Org, err error) {
	ids, err := tx.VisibleOrgs(userID)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		org, err := tx.Org(id)
		if err != nil {
			return nil, err
		}
		orgs = append(orgs, org)
	}
	return orgs, nil
}

// ErrNoPage answers both for a page that does not exist and for one of an org that the
// person may not see.
var ErrNoPage = store.Errorf(store.CodeNotFound, "There is no such page.")

// EnterOrg finds an org that the person may see; none, if the id is empty.
func (r *Request) EnterOrg(tx store.Tx, id string) (err error) {
	if id == "" {
		return nil
	}
	portal := r.Session.Portal
	switch r.Org, err = tx.Org(id); {
	case err == nil && portal.Is() && portal.OrgID != id:
		return ErrNoPage
	case err == nil && portal.Is():
		r.Member = portal.Member(r.Account.UserID)
	case err == nil:
		r.Member, err = tx.Member(id, r.Account.UserID)
	}
	if store.IsNotFound(err) || err == nil && !r.Member.MaySee() {
		return ErrNoPage
	}
	return err
}

// MemberOfPath finds the member of the path.
func (r *Request) MemberOfPath(tx store.Tx) (store.Member, error) {
	m, err := tx.Member(r.Org.ID, r.Param("member"))
	if store.IsNotFound(err) {
		return m, ErrNoPage
	}
	return m, err
}

// readTime sets the time of the request.
func (r *Request) readTime() error {
	return r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error { r.Now = tx.Now(); return nil })
}

// Field is a field of the form; empty when the form lacks it.
func (r *Request) Field(name string) string { return r.HTTP.PostForm.Get(name) }

// OnForm shows a form again, with an error that the person can fix there. It returns
// any other error.
func (r *Request) OnForm(err error, again func(status int, e *store.Error) error) error {
	if e, ok := formError(err); ok {
		return again(e.Code.Status(), e)
	}
	return err
}

// formError is an error that its form shows, because the person can fix it there.
func formError(err error) (*store.Error, bool) {
	switch store.CodeOf(err) {
	case store.CodeBadRequest, store.CodeConflict, store.CodeUpgradeRequired, store.CodeRateLimited:
		return errors.AsType[*store.Error](err)
	}
	return nil, false
}

// Redirect redirects to another page, which the browser requests with GET.
func (r *Request) Redirect(path string) error {
	r.Status = http.StatusSeeOther
	http.Redirect(r.W, r.HTTP, path, http.StatusSeeOther)
	return nil
}

// LocalPath is the page to go to after signing in: next if it is a settings page,
// else the first page. Only the path and the query of next are used.
func (r *Request) LocalPath(next string) string { return localPath(r.s.config.Path, next) }

func localPath(home, next string) string {
	u, err := url.Parse(next)
	if err != nil || strings.Contains(next, `\`) || path.Clean(u.Path) != u.Path || u.Path != home && !strings.HasPrefix(u.Path, home+"/") {
		return home
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}
