package signin

import (
	"net/http"
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

// ShowSignIn shows the form, or redirects if the person is already signed in.
func (r *Request) ShowSignIn() error {
	next := r.LocalPath(r.HTTP.URL.Query().Get("next"))
	switch err := r.Page.View(nil); {
	case err == nil, store.CodeOf(err) == store.CodeForbidden: // signed in, if only to a portal
		return r.Redirect(next)
	case store.CodeOf(err) != store.CodeUnauthorized:
		return err
	}
	return r.renderSignIn(http.StatusOK, signInPage{Next: next})
}

// SignInAgain answers a form that was sent without a session with the sign-in page,
// which carries it, sealed.
func (r *Request) SignInAgain(draft string) error {
	return r.renderSignIn(http.StatusUnauthorized, signInPage{Next: r.HTTP.URL.Path, Draft: draft})
}

func (r *Request) renderSignIn(status int, p signInPage) error {
	p.Passkeys = r.HasPasskeys()
	return r.Page.Render(status, "signin", p)
}

// errNotSignedIn does not reveal whether the name or the password is wrong.
var errNotSignedIn = store.Errorf(store.CodeUnauthorized, "The name or the password is wrong.")

// SignIn starts a session, given a name and its password.
func (r *Request) SignIn() error {
	name, password := strings.TrimSpace(r.Field("name")), r.Field("password")
	next := r.LocalPath(r.Field("next"))
	err := r.checkPassword(name, password)
	if e, ok := r.signInError(err); ok {
		r.logRefused(name, "password", e)
		return r.renderSignIn(e.Code.Status(), signInPage{Name: name, Next: next, Draft: r.Page.Draft(), Error: e})
	}
	if err != nil {
		return err
	}
	return r.Page.AfterSignIn()
}

// signInError is the error of a sign-in that its form can show.
func (r *Request) signInError(err error) (*store.Error, bool) {
	if store.CodeOf(err) == store.CodeUnauthorized {
		return web.PublicError(err), true
	}
	return formError(err)
}

// checkPassword starts a session of a named account. unauthorized: there is no such
// account, or its password is a different one; rateLimited: there were too many
// attempts.
func (r *Request) checkPassword(name, password string) error {
	a, byID, err := r.namedAccounts(name)
	if err != nil {
		return err
	}
	if err := r.tryName(name, a); err != nil {
		return err
	}
	renewed, err := r.verify(a.PasswordHash, password)
	if store.CodeOf(err) == store.CodeUnauthorized && byID.PasswordHash != "" {
		a = byID
		renewed, err = r.verify(a.PasswordHash, password)
	}
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

// namedAccounts finds an account by what a person signs in with, and another one whose user
// id that is: a product may choose an id that is somebody's sign-in name already. The zero
// value when there is none. It also sets the time of the request.
func (r *Request) namedAccounts(name string) (a, byID store.Account, err error) {
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		r.Now = tx.Now()
		a, err = store.FindAccount(tx, name)
		if err != nil || a.UserID == name {
			return ignoreNotFound(err)
		}
		byID, err = tx.Account(name)
		return ignoreNotFound(err)
	})
	return a, byID, err
}

// maxTyped is how many bytes a password may have as it is typed: a character may be typed
// as up to four, of up to four bytes each.
const maxTyped = 16 * store.MaxPasswordLength

// verify checks a password against a hash. When the hash is outdated, it returns a
// new one of the same password. unauthorized: the password is a different one.
func (r *Request) verify(hash, password string) (renewed string, err error) {
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
