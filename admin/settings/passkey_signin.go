package settings

import (
	"bytes"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/store"
)

// beginPasskeySignIn asks for any passkey of this site.
func (v *visit) beginPasskeySignIn() error {
	return v.scripted(func() (any, error) {
		if v.s.passkeys == nil {
			return nil, errNoPasskeys
		}
		if err := v.readTime(); err != nil {
			return nil, err
		}
		options, data, err := v.s.passkeys.BeginDiscoverableLogin()
		if err != nil {
			return nil, err
		}
		return options, v.beginCeremony(data, "")
	})
}

// signInByPasskey begins a session of the account whose passkey it is. There is no
// limit by name: nobody guesses a signature.
func (v *visit) signInByPasskey() error {
	return v.scripted(func() (any, error) {
		err := v.checkPasskey()
		if e, ok := signInError(err); ok {
			v.logRefused("", "passkey", e)
		}
		return location(localPath(v.field("next"))), err
	})
}

func (v *visit) checkPasskey() error {
	if v.s.passkeys == nil {
		return errNoPasskeys
	}
	if err := v.readTime(); err != nil {
		return err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(v.field("credential")))
	if err != nil {
		return errPasskey
	}
	data, ok := v.s.ceremonies.end(parsed.Response.CollectedClientData.Challenge, "", v.now)
	if !ok {
		return errCeremony
	}
	userID := string(parsed.Response.UserHandle)
	return v.begin(userID, "passkey", func(tx store.Tx) error { return v.usePasskey(tx, data, parsed) })
}

// usePasskey checks an authenticator's answer, and keeps its count. A count that
// does not rise tells of a copy of the authenticator: it is refused.
func (v *visit) usePasskey(tx store.Tx, data webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData) error {
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
	c, err := v.s.passkeys.ValidateDiscoverableLogin(func(_, handle []byte) (webauthn.User, error) {
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
