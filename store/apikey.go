package store

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"hash/crc32"
	"strings"
	"time"
)

// Scope is what a key may do; neither includes the other.
type Scope uint8

// The scopes, as a set of bits.
const (
	ScopeRead Scope = 1 << iota
	ScopeWrite
)

// ParseScope finds a scope by its name.
func ParseScope(name string) (Scope, error) {
	switch name {
	case "read":
		return ScopeRead, nil
	case "write":
		return ScopeWrite, nil
	}
	return 0, Errorf(CodeBadRequest, "%.40q is not a scope; there are read and write", name)
}

// Has tells whether the set s includes t.
func (s Scope) Has(t Scope) bool { return s&t == t }

// Names lists the set's names, read first.
func (s Scope) Names() []string {
	names := []string{}
	if s.Has(ScopeRead) {
		names = append(names, "read")
	}
	if s.Has(ScopeWrite) {
		names = append(names, "write")
	}
	return names
}

// SecretHash is what is kept of a key's secret: its SHA-256.
type SecretHash [sha256.Size]byte

// HashSecret hashes the secret part of a key.
func HashSecret(secret string) SecretHash { return sha256.Sum256([]byte(secret)) }

// APIKey is a key of one org. In a request it has the form `<id>.<secret>`.
type APIKey struct {
	ID         string
	OrgID      string
	Name       string // for people, at most 200 characters
	SecretHash SecretHash
	Scopes     Scope
	CreatedBy  string // user id; the key dies when this user may no longer manage keys
	CreatedAt  time.Time
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked
}

// CutKey splits `<id>.<secret>`; ok is false when it has not that form.
func CutKey(key string) (id, secret string, ok bool) {
	id, secret, ok = strings.Cut(key, ".")
	return id, secret, ok && ValidID(id) && secret != ""
}

// Matches compares a presented secret with the key's in constant time.
func (k *APIKey) Matches(secret string) bool {
	hash := HashSecret(secret)
	return subtle.ConstantTimeCompare(hash[:], k.SecretHash[:]) == 1
}

const (
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretDigits = 43 // 32 bytes in base62
	checkDigits  = 6  // a CRC-32 in base62
)

// NewSecret makes the secret of a key: 32 random bytes in base62 and a CRC-32
// of them, by which a scanner can tell a secret from other text offline.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:])
	secret := make([]byte, secretDigits, secretDigits+checkDigits)
	for i := len(secret) - 1; i >= 0; i-- {
		secret[i] = base62[divide62(&b)]
	}
	return string(append(secret, checkOf(secret)...))
}

// ValidSecret tells whether a text has the form and the checksum of a secret
// that NewSecret made. Secrets from a fixture may be of any form.
func ValidSecret(secret string) bool {
	if len(secret) != secretDigits+checkDigits {
		return false
	}
	return string(checkOf([]byte(secret[:secretDigits]))) == secret[secretDigits:]
}

// divide62 divides the big-endian number b by 62 and returns the remainder.
func divide62(b *[32]byte) uint32 {
	rest := uint64(0)
	for i := 0; i < len(b); i += 4 {
		n := rest<<32 | uint64(binary.BigEndian.Uint32(b[i:]))
		binary.BigEndian.PutUint32(b[i:], uint32(n/62))
		rest = n % 62
	}
	return uint32(rest)
}

func checkOf(digits []byte) []byte {
	sum := crc32.ChecksumIEEE(digits)
	check := make([]byte, checkDigits)
	for i := checkDigits - 1; i >= 0; i-- {
		check[i] = base62[sum%62]
		sum /= 62
	}
	return check
}

func (k APIKey) check() error {
	if !ValidID(k.ID) {
		return Invalid("id", "%s", idRule)
	}
	if err := checkOptional("name", k.Name, maxNameLength); err != nil {
		return err
	}
	if k.Scopes == 0 {
		return Invalid("scopes", "a key has at least one scope: read or write")
	}
	if !ValidID(k.CreatedBy) {
		return Invalid("createdBy", "is the id of the user who made the key: %s", idRule)
	}
	return nil
}

// CreateKey makes a key of a member who may manage keys, with the audit entry
// apiKey.created, and returns it with its secret, which is kept nowhere. An
// expiry lies in the future.
func CreateKey(tx Tx, actorID string, k APIKey) (_ APIKey, secret string, err error) {
	if err := checkExpiry(tx, k.ExpiresAt); err != nil {
		return APIKey{}, "", err
	}
	secret = NewSecret()
	k.SecretHash = HashSecret(secret)
	if k, err = completeKey(tx, k); err == nil {
		err = checkCreator(tx, k)
	}
	if err == nil {
		err = tx.PutAPIKey(k)
	}
	if err != nil {
		return APIKey{}, "", err
	}
	return k, secret, auditBy(tx, actorID, k.OrgID, "apiKey.created", k.ID)
}

func checkCreator(tx Members, k APIKey) error {
	creator, err := tx.Member(k.OrgID, k.CreatedBy)
	if IsNotFound(err) || err == nil && !creator.Manages() {
		return Invalid("createdBy", "%q is no owner or admin of the org; a key works while the one who made it is", k.CreatedBy)
	}
	return err
}

// ImportKey adds a key, whose secret the caller has hashed, without an audit
// entry, as a fixture does. A missing id or creation time is filled in.
func ImportKey(tx Tx, k APIKey) (APIKey, error) {
	k, err := completeKey(tx, k)
	if err != nil {
		return APIKey{}, err
	}
	return k, tx.PutAPIKey(k)
}

// completeKey fills in what is missing of a key that is to be added, and checks
// it.
func completeKey(tx Tx, k APIKey) (APIKey, error) {
	if k.ID == "" {
		k.ID = tx.NewID(PrefixAPIKey)
	}
	if k.CreatedAt.IsZero() {
		k.CreatedAt = tx.Now()
	}
	if err := k.check(); err != nil {
		return APIKey{}, err
	}
	if _, err := tx.Org(k.OrgID); err != nil {
		return APIKey{}, err
	}
	switch _, err := tx.APIKey(k.ID); {
	case err == nil:
		return APIKey{}, &Error{Code: CodeConflict, Field: "id", Message: "an API key " + k.ID + " exists already"}
	case !IsNotFound(err):
		return APIKey{}, err
	}
	return k, nil
}

// RevokeKey revokes a key of an org from this commit on, with its audit entry.
// Revoking a revoked key changes nothing.
func RevokeKey(tx Tx, actorID, orgID, keyID string) error {
	k, err := FindKey(tx, orgID, keyID)
	if err != nil || !k.RevokedAt.IsZero() {
		return err
	}
	k.RevokedAt = tx.Now()
	if err := tx.PutAPIKey(k); err != nil {
		return err
	}
	return auditBy(tx, actorID, orgID, "apiKey.revoked", keyID)
}

// FindKey finds a key of an org. notFound: the org has no such key.
func FindKey(tx APIKeys, orgID, keyID string) (APIKey, error) {
	k, err := tx.APIKey(keyID)
	if err == nil && k.OrgID != orgID || IsNotFound(err) {
		return APIKey{}, Errorf(CodeNotFound, "The org has no such API key.")
	}
	return k, err
}
