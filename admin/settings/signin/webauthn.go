package signin

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/store"
)

// newPasskeys is nil if browsers offer no passkeys for the public URL: they need a
// host name and HTTPS, or localhost.
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
		return nil // such as a name that no browser accepts
	}
	return w
}

// HasPasskeys reports whether browsers have passkeys for this server. A public URL that only
// names this machine says nothing of the address at which a browser elsewhere reaches it.
func (r *Request) HasPasskeys() bool {
	public := r.s.config.PublicURL
	return r.s.passkeys != nil && (public.Hostname() != "localhost" || public.Host == r.HTTP.Host)
}

// owner is an account as the webauthn library sees it.
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

// WebAuthnID is the user handle, of at most 64 bytes, as every user id has.
func (o owner) WebAuthnID() []byte { return []byte(o.UserID) }

// WebAuthnName is the name that authenticators show.
func (o owner) WebAuthnName() string { return o.UserID }

// WebAuthnDisplayName is the name that they show beside it.
func (o owner) WebAuthnDisplayName() string { return o.UserID }

// WebAuthnCredentials are the account's passkeys.
func (o owner) WebAuthnCredentials() []webauthn.Credential { return o.credentials }

// kinds are the kinds of key that go with the algorithms that browsers are offered,
// those of [webauthn.CredentialParametersDefault].
var kinds = map[webauthncose.COSEAlgorithmIdentifier]webauthncose.COSEKeyType{
	webauthncose.AlgES256: webauthncose.EllipticKey, webauthncose.AlgES384: webauthncose.EllipticKey, webauthncose.AlgES512: webauthncose.EllipticKey,
	webauthncose.AlgRS256: webauthncose.RSAKey, webauthncose.AlgRS384: webauthncose.RSAKey, webauthncose.AlgRS512: webauthncose.RSAKey,
	webauthncose.AlgPS256: webauthncose.RSAKey, webauthncose.AlgPS384: webauthncose.RSAKey, webauthncose.AlgPS512: webauthncose.RSAKey,
	webauthncose.AlgEdDSA: webauthncose.OctetKey,
}

// isAcceptableKey reports whether a passkey may have a public key: one of the kinds,
// on its curve, or of a size that makes checking a signature cheap. Whoever adds
// a passkey chooses the key, and anyone who knows its id can make the server use
// it.
func isAcceptableKey(public []byte) bool {
	var head webauthncose.PublicKeyData
	if err := webauthncbor.Unmarshal(public, &head); err != nil {
		return false
	}
	kind, ok := kinds[webauthncose.COSEAlgorithmIdentifier(head.Algorithm)]
	key, err := webauthncose.ParsePublicKey(public) // checks curves and points too
	if !ok || err != nil || int64(kind) != head.KeyType {
		return false
	}
	k, ok := key.(webauthncose.RSAPublicKeyData)
	if !ok {
		return true
	}
	e, err := webauthncose.ParseRSAPublicKeyDataExponent(&k)
	bits := new(big.Int).SetBytes(k.Modulus).BitLen()
	return err == nil && e >= 3 && e <= 1<<17 && e%2 == 1 && bits >= 2048 && bits <= 4096
}
