package settings

import (
	"net/http"

	"teamdata/store"
)

// accountPage is what account.html is filled with.
type accountPage struct {
	Sessions []store.Session // the latest first
	Current  string          // id of the one that asks
	Passkeys bool            // one can be added
}

// showAccount shows how the person signs in, and where that was done.
func (r *request) showAccount() error {
	var p accountPage
	err := r.view(func(tx store.Tx) error {
		live, err := store.AccountSessions(tx, r.account.UserID)
		for i := range live {
			p.Sessions = append(p.Sessions, live[len(live)-1-i])
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Current, p.Passkeys = r.session.ID, r.s.passkeys != nil
	return r.render(http.StatusOK, "account", p)
}

// showPassword shows the form for another password.
func (r *request) showPassword() error {
	if err := r.view(nil); err != nil {
		return err
	}
	return r.render(http.StatusOK, "account_password", (*store.Error)(nil))
}

// changePassword sets another password for who knows the old one, and ends the
// person's other sessions.
func (r *request) changePassword() error {
	if err := r.view(nil); err != nil {
		return err
	}
	err := r.replacePassword()
	if e, ok := formError(err); ok {
		return r.render(e.Code.Status(), "account_password", e)
	}
	if err != nil {
		return err
	}
	r.logPassword(r.account.UserID, "account page")
	return r.done("password-changed", Path+"/account")
}

func (r *request) replacePassword() error {
	old := r.account.PasswordHash
	if err := r.tryName(r.account.UserID); err != nil {
		return err
	}
	if _, err := r.verify(old, r.field("old")); err != nil {
		if err == errNotSignedIn {
			return store.Invalid("old", "is not your current password")
		}
		return err
	}
	hash, err := r.newHash(r.account)
	if err != nil {
		return err
	}
	return r.change(func(tx store.Tx) error {
		if r.account.PasswordHash != old {
			return store.Errorf(store.CodeConflict, "The password has been changed in the meantime. Sign in with the new one.")
		}
		return store.SetPassword(tx, r.account.UserID, hash, r.session.ID)
	})
}

// newHash is the hash of the password that a form chooses for an account: its
// fields are password, and again. badRequest: it may not have that.
func (r *request) newHash(a store.Account) (string, error) {
	password := r.field("password")
	if err := store.CheckPassword(a, password); err != nil {
		return "", err
	}
	if r.field("again") != password {
		return "", store.Invalid("again", "does not match the new password")
	}
	return r.s.passwords.Hash(r.HTTP.Context(), password)
}

func (r *request) logPassword(userID, how string) {
	r.s.config.Log.Info().Str("user", userID).Stringer("client", r.address()).Str("how", how).Msg("settings: a password was set")
}
