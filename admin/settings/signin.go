package settings

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"

	"teamdata/store"
	"teamdata/wire/web"
)

// signInPage is the data of signin.html.
type signInPage struct {
	Name     string
	Next     string
	Draft    string // sealed: the form that was sent without a session; empty: none
	Error    *store.Error
	Passkeys bool // signing in with a passkey is possible
}

// showSignIn shows the form, or redirects if the person is already signed in.
func (r *request) showSignIn() error {
	next := localPath(r.HTTP.URL.Query().Get("next"))
	switch err := r.view(nil); {
	case err == nil, errors.Is(err, errPortal):
		return r.redirect(next)
	case store.CodeOf(err) != store.CodeUnauthorized:
		return err
	}
	return r.renderSignIn(signInPage{Next: next})
}

func (r *request) renderSignIn(p signInPage) error {
	p.Passkeys = r.s.passkeys != nil
	status := http.StatusOK
	if p.Error != nil {
		status = p.Error.Code.Status()
	}
	return r.render(status, "signin", p)
}

// errNotSignedIn does not reveal whether the name or the password is wrong.
var errNotSignedIn = store.Errorf(store.CodeUnauthorized, "The name or the password is wrong.")

// signIn starts a session, given a name and its password.
func (r *request) signIn() error {
	name, password := strings.TrimSpace(r.field("name")), r.field("password")
	next := localPath(r.field("next"))
	err := r.checkPassword(name, password)
	if e, ok := signInError(err); ok {
		r.logRefused(name, "password", e)
		p := signInPage{Name: name, Next: next, Error: e}
		if _, ok := r.openDraft(); ok {
			p.Draft = r.field("draft")
		}
		return r.renderSignIn(p)
	}
	if err != nil {
		return err
	}
	return r.afterSignIn()
}

// signInError is the error of a sign-in that its form can show.
func signInError(err error) (*store.Error, bool) {
	if store.CodeOf(err) == store.CodeUnauthorized {
		return web.PublicError(err), true
	}
	return formError(err)
}

// checkPassword starts a session of a named account. unauthorized: there is no such
// account, or its password is a different one; rateLimited: there were too many
// attempts.
func (r *request) checkPassword(name, password string) error {
	a, err := r.namedAccount(name)
	if err != nil {
		return err
	}
	if err := r.tryName(name, a); err != nil {
		return err
	}
	renewed, err := r.verify(a.PasswordHash, password)
	if err != nil {
		return err
	}
	return r.startSession(a.UserID, "password", func(tx store.Tx) error {
		switch now, err := tx.Account(a.UserID); {
		case store.IsNotFound(err), err == nil && now.PasswordHash != a.PasswordHash:
			return errNotSignedIn // it has been changed in the meantime
		case err != nil || renewed == "":
			return err
		}
		return store.RenewPasswordHash(tx, a.UserID, a.PasswordHash, renewed)
	})
}

// namedAccount finds an account by user id or e-mail address; the zero value when
// there is none. It also sets the time of the request.
func (r *request) namedAccount(name string) (a store.Account, err error) {
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		r.now = tx.Now()
		a, err = store.FindAccount(tx, name)
		return ignoreNotFound(err)
	})
	return a, err
}

// maxTyped is how many bytes a password may have as it is typed: a character may be typed
// as up to four, of up to four bytes each.
const maxTyped = 16 * store.MaxPasswordLength

// verify checks a password against a hash. When the hash is outdated, it returns a
// new one of the same password. unauthorized: the password is a different one.
func (r *request) verify(hash, password string) (renewed string, err error) {
	if len(password) > maxTyped {
		password = "" // no account has one so long, and hashing it would cost more
	}
	ok, outdated, err := r.s.passwords.Verify(r.HTTP.Context(), hash, password)
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", errNotSignedIn
	case !outdated:
		return "", nil
	}
	return r.s.passwords.Hash(r.HTTP.Context(), password)
}

// field is a field of the form; empty when the form lacks it.
func (r *request) field(name string) string { return r.HTTP.PostForm.Get(name) }

// localPath is the page to go to after signing in: next if it is a settings page,
// else the first page. Only the path and the query of next are used.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || strings.Contains(next, `\`) || path.Clean(u.Path) != u.Path || u.Path != Path && !strings.HasPrefix(u.Path, Path+"/") {
		return Path
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}
