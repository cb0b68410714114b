package store

import (
	"crypto/rand"
	"encoding/base64"
	"strings"
	"time"
)

// MaxSecretOverlap is how long an endpoint's old secret may go on signing
// beside the new one.
const MaxSecretOverlap = 7 * 24 * time.Hour

const (
	secretPrefix   = "whsec_"
	minSecretBytes = 24
	maxSecretBytes = 64
)

// NewEndpointSecret makes a secret of 32 random bytes.
func NewEndpointSecret() string {
	var b [32]byte
	rand.Read(b[:])
	return secretPrefix + base64.StdEncoding.EncodeToString(b[:])
}

func checkEndpointSecret(field, secret string) error {
	encoded, found := strings.CutPrefix(secret, secretPrefix)
	if !found {
		return Invalid(field, "must start with %s", secretPrefix)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || strings.ContainsAny(encoded, "\r\n") {
		return Invalid(field, "is %s followed by standard, padded base64", secretPrefix)
	}
	if len(b) < minSecretBytes || len(b) > maxSecretBytes {
		return Invalid(field, "holds %d bytes; from %d to %d are allowed", len(b), minSecretBytes, maxSecretBytes)
	}
	return nil
}

// RotateSecret gives an endpoint another secret: the given one, or a new one of
// 32 random bytes when that is empty. The old one goes on signing beside it for
// the overlap, from 0 (at once) to MaxSecretOverlap; one that was rotated out
// before then ends. notFound: the org has no such endpoint.
func RotateSecret(tx Tx, actorID, orgID, id, secret string, overlap time.Duration) (Endpoint, error) {
	if secret == "" {
		secret = NewEndpointSecret()
	}
	if err := checkEndpointSecret("secret", secret); err != nil {
		return Endpoint{}, err
	}
	if overlap < 0 || overlap > MaxSecretOverlap {
		return Endpoint{}, Invalid("overlap", "is from 0 (at once) to 7 days")
	}
	e, err := FindEndpoint(tx, orgID, id)
	if err != nil {
		return Endpoint{}, err
	}
	if secret == e.Secret {
		return Endpoint{}, Invalid("secret", "is the endpoint's secret already")
	}
	e.Secret, e.OldSecret, e.OldSecretUntil = secret, e.Secret, tx.Now().Add(overlap)
	if overlap == 0 {
		e.OldSecret, e.OldSecretUntil = "", time.Time{}
	}
	if err := tx.PutEndpoint(e); err != nil {
		return Endpoint{}, err
	}
	return e, auditBy(tx, actorID, orgID, "endpoint.secretRotated", e.ID)
}

// Secrets are those that sign at a time: the newest first.
func (e *Endpoint) Secrets(now time.Time) []string {
	if e.OldSecret != "" && now.Before(e.OldSecretUntil) {
		return []string{e.Secret, e.OldSecret}
	}
	return []string{e.Secret}
}
