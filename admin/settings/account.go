package settings

import (
	"slices"

	"teamdata/admin/settings/password"
	"teamdata/store"
)

// accountPage is the data of account.html.
type accountPage struct {
	Sessions []store.Session // newest first
	Current  string          // id of the session of this request
	Passkeys bool            // passkeys can be added
	Present  bool            // without the password: a passkey was used just now
}

// showAccount shows how the person signs in, and where they are signed in.
func (r *request) showAccount() error {
	p := accountPage{Passkeys: r.s.passkeys != nil}
	return r.show(200, "account", &p, func(tx store.Tx) (err error) {
		p.Current, p.Present = r.session.ID, r.usedPasskey()
		p.Sessions, err = store.AccountSessions(tx, r.account.UserID)
		slices.Reverse(p.Sessions)
		return err
	})
}

// showPassword shows the form that changes the password.
func (r *request) showPassword() error {
	return r.show(200, "account_password", (*store.Error)(nil), nil)
}

// changePassword sets a new password, given the old one, and ends the account's
// other sessions.
func (r *request) changePassword() error {
	if err := r.view(nil); err != nil {
		return err
	}
	if err := r.replacePassword(); err != nil {
		return onForm(err, func(status int, e *store.Error) error { return r.render(status, "account_password", e) })
	}
	r.logPassword(r.account.UserID, "account page")
	return r.done("password-changed", Path+"/account")
}

func (r *request) replacePassword() error {
	old := r.account.PasswordHash
	if err := r.checkOldPassword(); err != nil {
		return err
	}
	hash, err := r.newHash(r.account)
	if err != nil {
		return err
	}
	err = r.change(func(tx store.Tx) error {
		if r.account.PasswordHash != old {
			return store.Errorf(store.CodeConflict, "The password has been changed in the meantime.").Advise("Sign in with the new one.")
		}
		return store.SetPassword(tx, r.account.UserID, hash, r.session.ID)
	})
	if err == nil {
		r.setKnownBrowser(r.account.UserID, hash)
	}
	return err
}

// checkOldPassword checks the form's field old against the person's password.
// badRequest: it is wrong; rateLimited: there were too many attempts.
func (r *request) checkOldPassword() error {
	if err := r.tryName(r.account.UserID, r.account); err != nil {
		return err
	}
	_, err := r.verify(r.account.PasswordHash, r.field("old"))
	if err == errNotSignedIn {
		return store.Invalid("old", "is not your current password")
	}
	return err
}

// newHash hashes the new password of a form, from its fields password and again.
// badRequest: the password is not allowed, or the two differ.
func (r *request) newHash(a store.Account) (string, error) {
	chosen := password.Prepare(r.field("password"))
	if err := store.CheckPassword(a, chosen); err != nil {
		return "", err
	}
	if password.Prepare(r.field("again")) != chosen {
		return "", store.Invalid("again", "does not match the new password")
	}
	return r.s.passwords.Hash(r.HTTP.Context(), chosen)
}

func (r *request) logPassword(userID, how string) {
	r.logEvent(userID).Str("how", how).Msg("settings: a password was set")
}
