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

// endSession ends a session of the person's own.
func (r *request) endSession() error {
	id := r.param(sessionParam)
	err := r.change(func(tx store.Tx) error { return store.EndSession(tx, r.account.UserID, id) })
	if err != nil {
		return err
	}
	r.logEnded("by its owner")
	return r.done("session-over", Path+"/account")
}

func (r *request) endOtherSessions() error {
	err := r.change(func(tx store.Tx) error { return store.EndOtherSessions(tx, r.account.UserID, r.session.ID) })
	if err != nil {
		return err
	}
	r.logEnded("all others, by their owner")
	return r.done("sessions-over", Path+"/account")
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

// passkey is the account's passkey of the path.
func (r *request) passkey() (store.Passkey, error) {
	for _, p := range r.account.Passkeys {
		if p.ID == r.param(passkeyParam) {
			return p, nil
		}
	}
	return store.Passkey{}, errNoPage
}

// askRemovePasskey asks before a passkey is removed.
func (r *request) askRemovePasskey() error {
	if err := r.view(nil); err != nil {
		return err
	}
	p, err := r.passkey()
	if err != nil {
		return err
	}
	return r.render(http.StatusOK, "confirm", question{
		Title: "Remove this passkey?", About: p.Name, Danger: true, Button: "Remove passkey",
		Text: []string{"You can no longer sign in with it. Where you are signed in, you stay signed in. Your device may keep offering it until you delete it there too."},
		To:   r.HTTP.URL.Path, Back: Path + "/account",
	})
}

func (r *request) removePasskey() error {
	err := r.change(func(tx store.Tx) error { return store.RemovePasskey(tx, r.account.UserID, r.param(passkeyParam)) })
	if err != nil {
		return err
	}
	r.s.config.Log.Info().Str("user", r.account.UserID).Stringer("client", r.address()).Msg("settings: a passkey was removed")
	return r.done("passkey-removed", Path+"/account")
}
