package settings

import (
	"encoding/base64"
	"encoding/json"
	"net/http"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/internal/web"
	"teamdata/store"
)

var (
	errNoPasskeys = store.Errorf(store.CodeConflict, "Passkeys need HTTPS and a name in the server's address. The operator sets it with --public-url.")
	errCeremony   = store.Errorf(store.CodeBadRequest, "That took too long, or was done before. Try again.")
	errPasskey    = store.Errorf(store.CodeUnauthorized, "This passkey is not known here, or could not be checked. Sign in with your password, or with another passkey.")
)

// scripted answers a request of the script with JSON. An error is told in its
// field message.
func (v *visit) scripted(do func() (answer any, err error)) error {
	status := http.StatusOK
	answer, err := do()
	if err != nil {
		e := web.PublicError(err)
		v.logFault(e, err)
		status, answer = e.Code.Status(), map[string]string{"message": e.Message}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	v.w.Header().Set("Content-Type", web.JSONType)
	v.sent = true
	v.w.WriteHeader(status)
	v.w.Write(body)
	return nil
}

// location is where the script goes next.
func location(path string) map[string]string { return map[string]string{"location": path} }

// beginCeremony keeps what the answer of an authenticator is held to.
func (v *visit) beginCeremony(data *webauthn.SessionData, session string) error {
	c := v.s.ceremonies
	if err := v.allowed(c.begun.Take(v.client(), v.now)); err != nil {
		return err
	}
	c.begin(ceremony{*data, session, v.now})
	return nil
}

// beginPasskey asks an authenticator for a new passkey.
func (v *visit) beginPasskey() error {
	return v.scripted(func() (any, error) {
		if err := v.view(nil); err != nil {
			return nil, err
		}
		if v.s.passkeys == nil {
			return nil, errNoPasskeys
		}
		o, err := ownerOf(v.account)
		if err != nil {
			return nil, err
		}
		options, data, err := v.s.passkeys.BeginRegistration(o, webauthn.WithExclusions(webauthn.Credentials(o.credentials).CredentialDescriptors()))
		if err != nil {
			return nil, err
		}
		return options, v.beginCeremony(data, v.session.ID)
	})
}

// addPasskey adds the passkey that an authenticator made.
func (v *visit) addPasskey() error {
	return v.scripted(func() (any, error) {
		if err := v.view(nil); err != nil {
			return nil, err
		}
		p, err := v.newPasskey()
		if err != nil {
			return nil, err
		}
		if err := v.change(func(tx store.Tx) error { return store.AddPasskey(tx, v.account.UserID, p) }); err != nil {
			return nil, err
		}
		v.s.config.Log.Info().Str("user", v.account.UserID).Stringer("client", v.address()).Msg("settings: a passkey was added")
		return location(Path + "/account?done=passkey-added"), nil
	})
}

// newPasskey checks the answer to beginPasskey.
func (v *visit) newPasskey() (p store.Passkey, err error) {
	if v.s.passkeys == nil {
		return p, errNoPasskeys
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(v.field("credential")))
	if err != nil {
		return p, errCeremony
	}
	data, ok := v.s.ceremonies.end(parsed.Response.CollectedClientData.Challenge, v.session.ID, v.now)
	if !ok {
		return p, errCeremony
	}
	o, err := ownerOf(v.account)
	if err != nil {
		return p, err
	}
	c, err := v.s.passkeys.CreateCredential(o, data, parsed)
	if err != nil {
		return p, store.Errorf(store.CodeBadRequest, "The passkey could not be checked. Try again, or with another device.")
	}
	p = store.Passkey{ID: passkeyID(c.ID), Name: v.field("name")}
	p.Credential, err = json.Marshal(c)
	return p, err
}

func passkeyID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }
