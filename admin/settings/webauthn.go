package settings

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/protocol/webauthncbor"
	"github.com/go-webauthn/webauthn/protocol/webauthncose"
	"github.com/go-webauthn/webauthn/webauthn"

	"teamdata/internal/ratelimit"
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

// acceptable tells whether a passkey may have a public key: one of the kinds, on its
// curve, or of a size with which a signature is checked in no time. Whoever adds a
// passkey makes the key, and whoever knows its id makes the server use it.
func acceptable(public []byte) bool {
	var head webauthncose.PublicKeyData
	if err := webauthncbor.Unmarshal(public, &head); err != nil {
		return false
	}
	kind, ok := kinds[webauthncose.COSEAlgorithmIdentifier(head.Algorithm)]
	key, err := webauthncose.ParsePublicKey(public) // looks at curves and points too
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
	ceremonyTTL   = 5 * time.Minute
	maxCeremonies = 4096
	begunByClient = 60 // within ceremonyTTL
)

// ceremonies are those on their way, by their challenges. When there are too many,
// the oldest is forgotten; a client alone can't begin as many.
type ceremonies struct {
	begun *ratelimit.Limiter[netip.Prefix]

	mu        sync.Mutex
	underWay  map[string]ceremony
	beginning []string // challenges in the order of their beginning; some are over
}

type ceremony struct {
	data    webauthn.SessionData
	session string // id of the one that adds a passkey; empty for a sign-in
	begunAt time.Time
}

func newCeremonies() *ceremonies {
	return &ceremonies{
		begun:    ratelimit.New[netip.Prefix](begunByClient, ceremonyTTL, maxTracked),
		underWay: map[string]ceremony{},
	}
}

func (c *ceremonies) begin(y ceremony) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.beginning) == maxCeremonies {
		delete(c.underWay, c.beginning[0])
		c.beginning = c.beginning[1:]
	}
	c.underWay[y.data.Challenge] = y
	c.beginning = append(c.beginning, y.data.Challenge)
}

// end takes a ceremony out: its challenge is good once.
func (c *ceremonies) end(challenge, session string, now time.Time) (webauthn.SessionData, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	y, ok := c.underWay[challenge]
	delete(c.underWay, challenge)
	return y.data, ok && y.session == session && now.Sub(y.begunAt) < ceremonyTTL
}
