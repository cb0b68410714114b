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
func (v *visit) showAccount() error {
	var p accountPage
	err := v.view(func(tx store.Tx) error {
		live, err := store.AccountSessions(tx, v.account.UserID)
		for i := range live {
			p.Sessions = append(p.Sessions, live[len(live)-1-i])
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Current, p.Passkeys = v.session.ID, v.s.passkeys != nil
	return v.render(http.StatusOK, "account", p)
}

// endSession ends a session of the person's own.
func (v *visit) endSession() error {
	id := v.param(sessionParam)
	err := v.change(func(tx store.Tx) error { return store.EndSession(tx, v.account.UserID, id) })
	if err != nil {
		return err
	}
	v.logEnded("by its owner")
	return v.done("session-over", Path+"/account")
}

func (v *visit) endOtherSessions() error {
	err := v.change(func(tx store.Tx) error { return store.EndOtherSessions(tx, v.account.UserID, v.session.ID) })
	if err != nil {
		return err
	}
	v.logEnded("all others, by their owner")
	return v.done("sessions-over", Path+"/account")
}

// showPassword shows the form for another password.
func (v *visit) showPassword() error {
	if err := v.view(nil); err != nil {
		return err
	}
	return v.render(http.StatusOK, "password", (*store.Error)(nil))
}

// changePassword sets another password for who knows the old one, and ends the
// person's other sessions.
func (v *visit) changePassword() error {
	if err := v.view(nil); err != nil {
		return err
	}
	err := v.replacePassword()
	if e, ok := formError(err); ok {
		return v.render(e.Code.Status(), "password", e)
	}
	if err != nil {
		return err
	}
	v.logPassword(v.account.UserID, "account page")
	return v.done("password-changed", Path+"/account")
}

func (v *visit) replacePassword() error {
	old := v.account.PasswordHash
	if err := v.tryName(v.account.UserID); err != nil {
		return err
	}
	if _, err := v.verify(old, v.field("old")); err != nil {
		if err == errNotSignedIn {
			return store.Invalid("old", "is not your password")
		}
		return err
	}
	hash, err := v.newHash(v.account)
	if err != nil {
		return err
	}
	return v.change(func(tx store.Tx) error {
		if v.account.PasswordHash != old {
			return store.Errorf(store.CodeConflict, "The password was changed meanwhile. Sign in with the new one.")
		}
		return store.SetPassword(tx, v.account.UserID, hash, v.session.ID)
	})
}

// passkey is the account's passkey of the path.
func (v *visit) passkey() (store.Passkey, error) {
	for _, p := range v.account.Passkeys {
		if p.ID == v.param(passkeyParam) {
			return p, nil
		}
	}
	return store.Passkey{}, errNoPage
}

// askRemovePasskey asks before a passkey is removed.
func (v *visit) askRemovePasskey() error {
	if err := v.view(nil); err != nil {
		return err
	}
	p, err := v.passkey()
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "ask", question{
		Title: "Remove the passkey?", About: p.Name, Danger: true, Button: "Remove the passkey",
		Text: []string{"Nobody can sign in with it any more. Where you are signed in, you stay so. The device may go on offering it until you delete it there too."},
		To:   v.r.URL.Path, Back: Path + "/account",
	})
}

func (v *visit) removePasskey() error {
	err := v.change(func(tx store.Tx) error { return store.RemovePasskey(tx, v.account.UserID, v.param(passkeyParam)) })
	if err != nil {
		return err
	}
	v.s.config.Log.Info().Str("user", v.account.UserID).Stringer("client", v.address()).Msg("settings: a passkey was removed")
	return v.done("passkey-removed", Path+"/account")
}
