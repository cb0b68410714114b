package settings

import (
	"bytes"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/store"
)

// beginPasskeySignIn asks for any passkey of this site.
func (r *request) beginPasskeySignIn() error {
	return r.scripted(func() (any, error) {
		if r.s.passkeys == nil {
			return nil, errNoPasskeys
		}
		if err := r.readTime(); err != nil {
			return nil, err
		}
		options, data, err := r.s.passkeys.BeginDiscoverableLogin()
		if err != nil {
			return nil, err
		}
		return options, r.beginCeremony(data, "")
	})
}

// signInByPasskey begins a session of the account whose passkey it is. There is no
// limit by name: nobody guesses a signature.
func (r *request) signInByPasskey() error {
	return r.scripted(func() (any, error) {
		err := r.checkPasskey()
		if e, ok := signInError(err); ok {
			r.logRefused("", "passkey", e)
		}
		return location(localPath(r.field("next"))), err
	})
}

func (r *request) checkPasskey() error {
	if r.s.passkeys == nil {
		return errNoPasskeys
	}
	if err := r.readTime(); err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.field("credential")))
	if err != nil {
		return errPasskey
	}
	data, ok := r.s.ceremonies.end(parsed.Response.CollectedClientData.Challenge, "", r.now)
	if !ok {
		return errCeremony
	}
	userID := string(parsed.Response.UserHandle)
	return r.begin(userID, "passkey", func(tx store.Tx) error { return r.usePasskey(tx, data, parsed) })
}

// usePasskey checks an authenticator's answer, and keeps its count. A count that
// does not rise tells of a copy of the authenticator: it is refused.
func (r *request) usePasskey(tx store.Tx, data webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData) error {
	a, err := tx.Account(string(parsed.Response.UserHandle))
	if store.IsNotFound(err) {
		return errPasskey
	}
	if err != nil {
		return err
	}
	o, err := ownerOf(a)
	if err != nil {
		return err
	}
	c, err := r.s.passkeys.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
		if !bytes.Equal(handle, o.WebAuthnID()) {
			return nil, errPasskey
		}
		return o, nil
	}, data, parsed)
	if err != nil || c.Authenticator.CloneWarning {
		return errPasskey
	}
	kept, err := json.Marshal(c)
	if err != nil {
		return err
	}
	return store.UsePasskey(tx, a.UserID, passkeyID(c.ID), kept)
}
