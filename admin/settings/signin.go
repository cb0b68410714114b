package settings

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"teamdata/internal/web"
	"teamdata/store"
)

// signInPage is what sign-in.html is filled with.
type signInPage struct {
	Name     string
	Next     string
	Error    *store.Error
	Passkeys bool // one can sign in with a passkey
	Forgot   bool // there is mail for who forgot the password
}

// showSignIn shows the form. Who is signed in already goes on.
func (r *request) showSignIn() error {
	next := localPath(r.HTTP.URL.Query().Get("next"))
	switch err := r.view(nil); {
	case err == nil:
		return r.redirect(next)
	case store.CodeOf(err) != store.CodeUnauthorized:
		return err
	}
	return r.renderSignIn(signInPage{Next: next})
}

func (r *request) renderSignIn(p signInPage) error {
	p.Passkeys, p.Forgot = r.s.passkeys != nil, r.s.config.Mailed != nil
	status := http.StatusOK
	if p.Error != nil {
		status = p.Error.Code.Status()
	}
	return r.render(status, "signin", p)
}

// errNotSignedIn is the same for a wrong name and a wrong password.
var errNotSignedIn = store.Errorf(store.CodeUnauthorized, "The name or the password is wrong.")

// signIn begins a session for who knows the password.
func (r *request) signIn() error {
	name, password := strings.TrimSpace(r.field("name")), r.field("password")
	next := localPath(r.field("next"))
	err := r.checkPassword(name, password)
	if e, ok := signInError(err); ok {
		r.logRefused(name, "password", e)
		return r.renderSignIn(signInPage{Name: name, Next: next, Error: e})
	}
	if err != nil {
		return err
	}
	return r.redirect(next)
}

// signInError is an error that the form of a sign-in shows.
func signInError(err error) (*store.Error, bool) {
	if store.CodeOf(err) == store.CodeUnauthorized {
		return web.PublicError(err), true
	}
	return formError(err)
}

// checkPassword begins a session of a named account. unauthorized: there is no
// such account, or its password is another; rateLimited: there were too many
// tries.
func (r *request) checkPassword(name, password string) error {
	a, err := r.namedAccount(name)
	if err != nil {
		return err
	}
	if err := r.tryName(name); err != nil {
		return err
	}
	renewed, err := r.verify(a.PasswordHash, password)
	if err != nil {
		return err
	}
	return r.begin(a.UserID, "password", func(tx store.Tx) error {
		switch now, err := tx.Account(a.UserID); {
		case store.IsNotFound(err), err == nil && now.PasswordHash != a.PasswordHash:
			return errNotSignedIn // it was changed meanwhile
		case err != nil || renewed == "":
			return err
		}
		return store.RenewPasswordHash(tx, a.UserID, a.PasswordHash, renewed)
	})
}

// namedAccount is the account with a name; the zero value when there is none. It
// also tells the time.
func (r *request) namedAccount(name string) (a store.Account, err error) {
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		r.now = tx.Now()
		a, err = store.FindAccount(tx, name)
		if store.IsNotFound(err) {
			return nil
		}
		return err
	})
	return a, err
}

// verify holds a password to a hash. It returns another hash of the password when
// that one is outdated. unauthorized: it is another password.
func (r *request) verify(hash, password string) (renewed string, err error) {
	if len(password) > 4*store.MaxPasswordLength {
		password = "" // no account has it, and hashing it costs more than others
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

// field is a field of the form; empty when it has none of that name.
func (r *request) field(name string) string { return r.HTTP.PostForm.Get(name) }

// localPath is where a link may lead after signing in: a page of ours, else the
// first. Of what was given, only path and query are taken.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || strings.Contains(next, `\`) || path.Clean(u.Path) != u.Path || u.Path != Path && !strings.HasPrefix(u.Path, Path+"/") {
		return Path
	}
	return (&url.URL{Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}).String()
}
