package signin

import (
	"context"
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"time"

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

// acceptable reports whether a passkey may have a public key: one of the kinds,
// on its curve, or of a size that makes checking a signature cheap. Whoever adds
// a passkey chooses the key, and anyone who knows its id can make the server use
// it.
func acceptable(public []byte) bool {
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

// A ceremony is the time between the question to an authenticator and its answer.
const (
	ceremonyTTL      = 5 * time.Minute
	ceremonyRequests = 120 // by one client within ceremonyTTL: half of them begin one
	challengePurpose = "challenge"
)

// ceremonies are kept by the browsers that began them, sealed in a cookie, so
// starting many can't evict anybody else's. Only challenges answered successfully
// are remembered until they expire.
type ceremonies struct {
	requests clientLimiter
	sealer   sealer
	store    store.Coordination
}

type ceremony struct {
	Data    webauthn.SessionData
	Session string // id of the one that adds a passkey; empty for a sign-in
	BegunAt time.Time
}

func newCeremonies(s store.Coordination) *ceremonies {
	return &ceremonies{requests: newClientLimiter(s, "passkey", ceremonyRequests, ceremonyTTL), sealer: sealer{s.SharedKey}, store: s}
}

// begin returns the ceremony as the browser keeps it.
func (c *ceremonies) begin(ctx context.Context, y ceremony) (string, error) {
	return c.sealer.seal(ctx, challengePurpose, y)
}

// open finds out whether a ceremony that a browser kept is that of a challenge, and of
// a session.
func (c *ceremonies) open(ctx context.Context, kept, challenge, session string, now time.Time) (webauthn.SessionData, bool) {
	var y ceremony
	ok := c.sealer.open(ctx, challengePurpose, kept, &y)
	return y.Data, ok && y.Data.Challenge == challenge && y.Session == session && now.Sub(y.BegunAt) < ceremonyTTL
}

// use uses up a successfully answered challenge: it is valid once.
func (c *ceremonies) use(ctx context.Context, challenge string, now time.Time) error {
	first, err := c.store.UseUp(ctx, challenge, now, ceremonyTTL)
	if err == nil && !first {
		err = errCeremony
	}
	return err
}
