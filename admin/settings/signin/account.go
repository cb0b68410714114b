package signin

import (
	"net/http"
	"slices"

	"teamdata/admin/settings/signin/password"
	"teamdata/store"
)

// accountPage is the data of account.html.
type accountPage struct {
	Sessions []store.Session // newest first
	Current  string          // id of the session of this request
	Passkeys bool            // passkeys can be added
	Present  bool            // without the password: a passkey was used just now
}

// ShowAccount shows how the person signs in, and where they are signed in.
func (r *Request) ShowAccount() error {
	p := accountPage{Passkeys: r.HasPasskeys()}
	return r.Page.Show(http.StatusOK, "account", &p, func(tx store.Tx) (err error) {
		p.Current, p.Present = r.Session.ID, r.hasUsedPasskey()
		p.Sessions, err = store.AccountSessions(tx, r.Account.UserID)
		slices.Reverse(p.Sessions)
		return err
	})
}

// ShowPassword shows the form that changes the password.
func (r *Request) ShowPassword() error {
	return r.Page.Show(http.StatusOK, "account_password", (*store.Error)(nil), nil)
}

// ChangePassword sets a new password, given the old one, and ends the account's
// other sessions.
func (r *Request) ChangePassword() error {
	if err := r.replacePassword(); err != nil {
		return r.OnForm(err, func(status int, e *store.Error) error { return r.Page.Render(status, "account_password", e) })
	}
	r.logPassword(r.Account.UserID, "account page")
	return r.Page.Done("password-changed", r.s.config.Path+"/account")
}

func (r *Request) replacePassword() error {
	old := r.Account.PasswordHash
	if err := r.checkOldPassword(); err != nil {
		return err
	}
	hash, err := r.newHash(r.Account)
	if err != nil {
		return err
	}
	if password.Prepare(r.Field("again")) != password.Prepare(r.Field("password")) {
		return store.Invalid("again", "The two new passwords differ.")
	}
	err = r.Page.Change(func(tx store.Tx) error {
		if r.Account.PasswordHash != old {
			return store.Errorf(store.CodeConflict, "The password has been changed in the meantime.").Advise("Sign in with the new one.")
		}
		return store.SetPassword(tx, r.Account.UserID, hash, r.Session.ID)
	})
	if err == nil {
		r.setKnownBrowser(r.Account.UserID, hash)
	}
	return err
}

// checkOldPassword checks the form's field old against the person's password.
// badRequest: it is wrong; rateLimited: there were too many attempts.
func (r *Request) checkOldPassword() error {
	if err := r.tryName(r.Account.UserID, r.Account); err != nil {
		return err
	}
	_, err := r.verify(r.Account.PasswordHash, r.Field("old"))
	if err == errNotSignedIn {
		return store.Invalid("old", "is not the right one")
	}
	return err
}

// newHash hashes the new password of a form. badRequest: it is not allowed.
func (r *Request) newHash(a store.Account) (string, error) {
	chosen := password.Prepare(r.Field("password"))
	if err := store.CheckPassword(a, chosen); err != nil {
		return "", err
	}
	return r.s.passwords.Hash(r.HTTP.Context(), chosen)
}

func (r *Request) logPassword(userID, how string) {
	r.logEvent(userID).Str("how", how).Msg("settings: a password was set")
}
