package settings

import (
	"encoding/json"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/store"
)

// newPasskeys is nil where browsers have no passkeys: they want a name, not an
// address, and HTTPS, or localhost.
func newPasskeys(public *url.URL) *webauthn.WebAuthn {
	host := public.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || host == "" || public.Scheme != "https" && host != "localhost" {
		return nil
	}
	w, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: "teamdata", RPOrigins: []string{public.Scheme + "://" + public.Host},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
	})
	if err != nil {
		return nil // such as a name that no browser takes
	}
	return w
}

// owner is an account as the ceremonies see it.
type owner struct {
	store.Account
	credentials []webauthn.Credential
}

func ownerOf(a store.Account) (owner, error) {
	o := owner{Account: a}
	for _, p := range a.Passkeys {
		var c webauthn.Credential
		if err := json.Unmarshal(p.Credential, &c); err != nil {
			return o, err
		}
		o.credentials = append(o.credentials, c)
	}
	return o, nil
}

// WebAuthnID is the user handle: a user id has at most 64 bytes, as it may.
func (o owner) WebAuthnID() []byte { return []byte(o.UserID) }

// WebAuthnName is what authenticators show.
func (o owner) WebAuthnName() string { return o.UserID }

// WebAuthnDisplayName is what they show beside it.
func (o owner) WebAuthnDisplayName() string { return o.UserID }

// WebAuthnCredentials are the account's passkeys.
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.credentials }
