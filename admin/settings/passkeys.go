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
	errNoPasskeys = store.Errorf(store.CodeConflict, "Passkeys need HTTPS and a host name in the server's URL. The operator sets it with --public-url.")
	errCeremony   = store.Errorf(store.CodeBadRequest, "That took too long or was already done. Try again.")
	errPasskey    = store.Errorf(store.CodeUnauthorized, "This passkey is unknown or could not be verified. Sign in with your password or another passkey.")
)

// scripted answers a request of the script with JSON. An error is told in its
// field message.
func (r *request) scripted(do func() (answer any, err error)) error {
	status := http.StatusOK
	answer, err := do()
	if err != nil {
		e := web.LogFault(r, err)
		status, answer = e.Code.Status(), map[string]string{"message": e.Message}
	}
	body, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	r.Send(web.JSON(status, body))
	return nil
}

// location is where the script goes next.
func location(path string) map[string]string { return map[string]string{"location": path} }

// beginCeremony keeps what the answer of an authenticator is held to.
func (r *request) beginCeremony(data *webauthn.SessionData, session string) error {
	c := r.s.ceremonies
	if err := r.allowed(c.begun.Take(r.client(), r.now)); err != nil {
		return err
	}
	c.begin(ceremony{*data, session, r.now})
	return nil
}

// beginPasskey asks an authenticator for a new passkey.
func (r *request) beginPasskey() error {
	return r.scripted(func() (any, error) {
		if err := r.view(nil); err != nil {
			return nil, err
		}
		if r.s.passkeys == nil {
			return nil, errNoPasskeys
		}
		o, err := ownerOf(r.account)
		if err != nil {
			return nil, err
		}
		options, data, err := r.s.passkeys.BeginRegistration(o, webauthn.WithExclusions(webauthn.Credentials(o.credentials).CredentialDescriptors()))
		if err != nil {
			return nil, err
		}
		return options, r.beginCeremony(data, r.session.ID)
	})
}

// addPasskey adds the passkey that an authenticator made.
func (r *request) addPasskey() error {
	return r.scripted(func() (any, error) {
		if err := r.view(nil); err != nil {
			return nil, err
		}
		p, err := r.newPasskey()
		if err != nil {
			return nil, err
		}
		if err := r.change(func(tx store.Tx) error { return store.AddPasskey(tx, r.account.UserID, p) }); err != nil {
			return nil, err
		}
		r.s.config.Log.Info().Str("user", r.account.UserID).Stringer("client", r.address()).Msg("settings: a passkey was added")
		return location(Path + "/account?done=passkey-added"), nil
	})
}

// newPasskey checks the answer to beginPasskey.
func (r *request) newPasskey() (p store.Passkey, err error) {
	if r.s.passkeys == nil {
		return p, errNoPasskeys
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(r.field("credential")))
	if err != nil {
		return p, errCeremony
	}
	data, ok := r.s.ceremonies.end(parsed.Response.CollectedClientData.Challenge, r.session.ID, r.now)
	if !ok {
		return p, errCeremony
	}
	o, err := ownerOf(r.account)
	if err != nil {
		return p, err
	}
	c, err := r.s.passkeys.CreateCredential(o, data, parsed)
	if err != nil {
		return p, store.Errorf(store.CodeBadRequest, "The passkey could not be verified. Try again, or use another device.")
	}
	p = store.Passkey{ID: passkeyID(c.ID), Name: r.field("name")}
	p.Credential, err = json.Marshal(c)
	return p, err
}

func passkeyID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }
