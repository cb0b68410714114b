package signin

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/store"
)

var (
	errNoPasskeys = store.Errorf(store.CodeConflict, "Passkeys need HTTPS and a host name in the server's URL.").Advise("The operator sets it with --public-url.")
	errCeremony   = store.Errorf(store.CodeBadRequest, "That took too long or was already done.").Advise("Try again.")
	errPresence   = store.Errorf(store.CodeBadRequest, "Adding a passkey needs your password, or a sign-in with a passkey within the last five minutes.").Advise("Enter your password.")
	errNewPasskey = store.Errorf(store.CodeBadRequest, "The passkey could not be verified.").Advise("Try again, or use another device.")
	errPasskey    = store.Errorf(store.CodeUnauthorized, "This passkey is unknown or could not be verified.").Advise("Sign in with your password or another passkey.")
)

// location gives the script the page to open.
func location(path string) map[string]string { return map[string]string{"location": path} }

// A ceremony is the time between the question to an authenticator and its answer.
const (
	ceremonyTTL      = 5 * time.Minute
	ceremonyRequests = 120 // by one client within ceremonyTTL: half of them begin one
	challengePurpose = "challenge"
)

// ceremony is kept by the browser that began it, sealed in a cookie, so starting many
// can't evict anybody else's. Only challenges answered successfully are remembered until
// they expire.
type ceremony struct {
	Data    webauthn.SessionData
	Session string // id of the one that adds a passkey; empty for a sign-in
	BegunAt time.Time
}

// beginCeremony gives the browser what the answer of its authenticator is checked
// against.
func (r *Request) beginCeremony(data *webauthn.SessionData, session string) error {
	if err := r.tryCeremony(); err != nil {
		return err
	}
	kept, err := r.Seal(challengePurpose, ceremony{*data, session, r.Now})
	r.PutCookie(r.challengeCookie(), kept, "/", ceremonyTTL)
	return err
}

// endCeremony accepts the result of beginCeremony. badRequest: it is too old, or
// of another challenge or session.
func (r *Request) endCeremony(challenge, session string) (webauthn.SessionData, error) {
	if err := r.tryCeremony(); err != nil {
		return webauthn.SessionData{}, err
	}
	var y ceremony
	ok := r.Open(challengePurpose, r.CookieNamed(r.challengeCookie()), &y)
	if !ok || y.Data.Challenge != challenge || y.Session != session || r.Now.Sub(y.BegunAt) >= ceremonyTTL {
		return y.Data, errCeremony
	}
	r.PutCookie(r.challengeCookie(), "", "/", 0)
	return y.Data, nil
}

// useChallenge uses up a successfully answered challenge: it is valid once.
func (r *Request) useChallenge(challenge string) error {
	first, err := r.s.store.UseUp(r.HTTP.Context(), challenge, r.Now, ceremonyTTL)
	if err == nil && !first {
		err = errCeremony
	}
	return err
}

func (r *Request) challengeCookie() string { return r.cookiePrefix() + "-challenge" }

// passkeyScript answers a request of the script that passes a check, where browsers have
// passkeys.
func (r *Request) passkeyScript(check func() error, do func() (answer any, err error)) error {
	return r.Page.Script(func() (any, error) {
		if err := check(); err != nil {
			return nil, err
		}
		if !r.HasPasskeys() {
			return nil, errNoPasskeys
		}
		return do()
	})
}

func (r *Request) checkSignedIn() error { return r.Page.View(nil) }

// BeginPasskey requests a new passkey from an authenticator.
func (r *Request) BeginPasskey() error {
	return r.passkeyScript(r.checkSignedIn, func() (any, error) {
		if err := r.confirmPresence(); err != nil {
			return nil, err
		}
		o, err := ownerOf(r.Account)
		if err != nil {
			return nil, err
		}
		options, data, err := r.s.passkeys.BeginRegistration(o, webauthn.WithExclusions(webauthn.Credentials(o.credentials).CredentialDescriptors()))
		if err != nil {
			return nil, err
		}
		return options, r.beginCeremony(data, r.Session.ID)
	})
}

// passkeyUse is that a session began with a passkey. The browser keeps it, sealed in a
// cookie, for as long as it means anything.
type passkeyUse struct {
	Session string // its id
	At      time.Time
}

// A passkey that was used within passkeyUseTTL is as good as the password.
const (
	passkeyUseTTL     = 5 * time.Minute
	passkeyUsePurpose = "passkey use"
)

func (r *Request) passkeyUseCookie() string { return r.cookiePrefix() + "-passkey" }

func (r *Request) setPasskeyUse() error {
	kept, err := r.Seal(passkeyUsePurpose, passkeyUse{r.Session.ID, r.Now})
	r.PutCookie(r.passkeyUseCookie(), kept, "/", passkeyUseTTL)
	return err
}

// hasUsedPasskey reports whether the session began with a passkey just now.
func (r *Request) hasUsedPasskey() bool {
	var use passkeyUse
	ok := r.Open(passkeyUsePurpose, r.CookieNamed(r.passkeyUseCookie()), &use)
	return ok && use.Session == r.Session.ID && r.Now.Sub(use.At) < passkeyUseTTL
}

// confirmPresence requires the password, unless a passkey was used just now: a
// session alone, which may have been left open, must not create permanent access.
func (r *Request) confirmPresence() error {
	switch {
	case r.hasUsedPasskey():
		return nil
	case r.Field("old") == "":
		return errPresence
	}
	return r.checkOldPassword()
}

// AddPasskey adds the passkey that an authenticator made.
func (r *Request) AddPasskey() error {
	return r.passkeyScript(r.checkSignedIn, func() (any, error) {
		p, err := r.newPasskey()
		if err != nil {
			return nil, err
		}
		if err := r.Page.Change(func(tx store.Tx) error { return store.AddPasskey(tx, r.Account.UserID, p) }); err != nil {
			return nil, err
		}
		r.logEvent(r.Account.UserID).Msg("settings: a passkey was added")
		return location(r.s.config.Path + "/account?done=passkey-added"), nil
	})
}

// newPasskey checks the answer to beginPasskey.
func (r *Request) newPasskey() (p store.Passkey, err error) {
	parsed, err := protocol.ParseCredentialCreationResponseBytes([]byte(r.Field("credential")))
	if err != nil {
		return p, errCeremony
	}
	data, err := r.endCeremony(parsed.Response.CollectedClientData.Challenge, r.Session.ID)
	if err != nil {
		return p, err
	}
	object := &parsed.Response.AttestationObject
	if !isAcceptableKey(object.AuthData.AttData.CredentialPublicKey) {
		return p, errNewPasskey
	}
	// No attestation was requested. An unrequested one would have signatures to
	// check, by keys of the client's choice.
	object.Format, object.AttStatement = string(protocol.AttestationFormatNone), nil
	c, err := r.s.passkeys.CreateCredential(owner{Account: r.Account}, data, parsed)
	if err != nil {
		return p, errNewPasskey
	}
	if err := r.useChallenge(data.Challenge); err != nil {
		return p, err
	}
	c.Attestation = webauthn.CredentialAttestation{} // the same again, and nothing reads it
	p = store.Passkey{ID: passkeyID(c.ID), Name: r.Field("name")}
	p.Credential, err = json.Marshal(c)
	return p, err
}

func passkeyID(id []byte) string { return base64.RawURLEncoding.EncodeToString(id) }

// BeginPasskeySignIn requests any passkey of this site.
func (r *Request) BeginPasskeySignIn() error {
	return r.passkeyScript(r.readTime, func() (any, error) {
		options, data, err := r.s.passkeys.BeginDiscoverableLogin()
		if err != nil {
			return nil, err
		}
		return options, r.beginCeremony(data, "")
	})
}

// SignInByPasskey starts a session of the account that has the passkey. There is
// no limit by name, because a signature can't be guessed.
func (r *Request) SignInByPasskey() error {
	return r.passkeyScript(r.readTime, func() (any, error) {
		err := r.checkPasskey()
		if e, ok := r.signInError(err); ok {
			r.logRefused(r.passkeyOf, "passkey", e)
		}
		return location(r.LocalPath(r.Field("next"))), err
	})
}

func (r *Request) checkPasskey() error {
	parsed, err := protocol.ParseCredentialRequestResponseBytes([]byte(r.Field("credential")))
	if err != nil {
		return errPasskey
	}
	r.passkeyOf = string(parsed.Response.UserHandle)
	data, err := r.endCeremony(parsed.Response.CollectedClientData.Challenge, "")
	if err != nil {
		return err
	}
	was, err := r.presentedPasskey(parsed)
	if err != nil {
		return err
	}
	now, err := r.verifyPasskey(was, data, parsed)
	if err != nil {
		return err
	}
	err = r.startSession(r.passkeyOf, "passkey", func(tx store.Tx) error {
		err := store.UsePasskey(tx, r.passkeyOf, was.ID, was.Credential, now)
		if store.IsNotFound(err) {
			return errPasskey // it has been removed in the meantime
		}
		return err
	})
	if err != nil {
		return err
	}
	return r.setPasskeyUse()
}

// presentedPasskey finds the passkey that an authenticator's answer names.
func (r *Request) presentedPasskey(parsed *protocol.ParsedCredentialAssertionData) (p store.Passkey, err error) {
	err = r.s.store.View(r.HTTP.Context(), func(tx store.Tx) error {
		a, err := tx.Account(string(parsed.Response.UserHandle))
		if err := ignoreNotFound(err); err != nil {
			return err
		}
		i := slices.IndexFunc(a.Passkeys, func(p store.Passkey) bool { return p.ID == passkeyID(parsed.RawID) })
		if i < 0 {
			return errPasskey
		}
		p = a.Passkeys[i]
		return nil
	})
	return p, err
}

// verifyPasskey checks an authenticator's answer, and returns what to keep of the
// passkey. It takes its time, so no transaction waits for it. A counter that does not
// rise is refused: there is a copy of the authenticator.
func (r *Request) verifyPasskey(p store.Passkey, data webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData) ([]byte, error) {
	o, err := ownerOf(store.Account{UserID: string(parsed.Response.UserHandle), Passkeys: []store.Passkey{p}})
	if err != nil {
		return nil, err
	}
	if !isAcceptableKey(o.credentials[0].PublicKey) {
		return nil, errPasskey
	}
	c, err := r.s.passkeys.ValidateDiscoverableLogin(func(_, _ []byte) (webauthn.User, error) { return o, nil }, data, parsed)
	if err != nil || c.Authenticator.CloneWarning {
		return nil, errPasskey
	}
	if err := r.useChallenge(data.Challenge); err != nil {
		return nil, err
	}
	return json.Marshal(c)
}

// RemovePasskey removes the passkey of the path, one of the person's.
func (r *Request) RemovePasskey() error {
	err := r.Page.Change(func(tx store.Tx) error { return store.RemovePasskey(tx, r.Account.UserID, r.Param("passkey")) })
	if err != nil {
		return err
	}
	r.logEvent(r.Account.UserID).Msg("settings: a passkey was removed")
	return r.Page.Done("passkey-removed", r.s.config.Path+"/account")
}
