package store

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"hash/crc32"
	"math/big"
	"strings"
)

// SecretHash is the stored form of a key's secret: its SHA-256.
type SecretHash [sha256.Size]byte

// HashSecret hashes the secret part of a key.
func HashSecret(secret string) SecretHash { return sha256.Sum256([]byte(secret)) }

// Matches compares a presented secret with the hash in constant time.
func (h SecretHash) Matches(secret string) bool {
	presented := HashSecret(secret)
	return subtle.ConstantTimeCompare(presented[:], h[:]) == 1
}

// findBySecret finds the record of a presented `<id>.<secret>`. It returns
// refused if that is malformed, unknown or wrong, or if hash reports the record
// as invalid.
func findBySecret[T any](presented string, refused error, find func(id string) (T, error), hash func(T) (h SecretHash, valid bool)) (T, error) {
	var none T
	id, secret, ok := CutKey(presented)
	if !ok {
		return none, refused
	}
	found, err := find(id)
	if IsNotFound(err) {
		return none, refused
	}
	if err != nil {
		return none, err
	}
	if h, valid := hash(found); !h.Matches(secret) || !valid {
		return none, refused
	}
	return found, nil
}

// CutKey splits `<id>.<secret>`; ok is false for any other form.
func CutKey(key string) (id, secret string, ok bool) {
	id, secret, ok = strings.Cut(key, ".")
	return id, secret, ok && ValidID(id) && secret != ""
}

const (
	base62       = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	secretDigits = 43 // 32 bytes in base62
	checkDigits  = 6  // a CRC-32 in base62
)

// NewSecret makes the secret of a key: 32 random bytes in base62 and a CRC-32 of
// them, by which a scanner can recognize a secret offline.
func NewSecret() string {
	var b [32]byte
	rand.Read(b[:])
	n, base, digit := new(big.Int).SetBytes(b[:]), big.NewInt(int64(len(base62))), new(big.Int)
	secret := make([]byte, secretDigits, secretDigits+checkDigits)
	for i := len(secret) - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		secret[i] = base62[digit.Int64()]
	}
	return string(append(secret, checkOf(secret)...))
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
		return Invalid(field, "must be %s followed by standard, padded base64", secretPrefix)
	}
	if len(b) < minSecretBytes || len(b) > maxSecretBytes {
		return Invalid(field, "holds %d bytes", len(b)).Advise("from %d to %d are allowed", minSecretBytes, maxSecretBytes)
	}
	return nil
}
