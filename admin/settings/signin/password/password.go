// Package password hashes passwords, in the PHC string format: with argon2id, or
// where FIPS 140-3 is asked for with PBKDF2, since that allows nothing better. It
// checks hashes of both, so that either can follow the other.
package password

import (
	"cmp"
	"context"
	"crypto/fips140"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/secure/precis"
)

// atOnce is how many hashes are made at the same time: each takes a processor and
// its parameters' memory.
const atOnce = 2

const (
	saltBytes    = 16
	minSaltBytes = 8 // of what is read
	keyBytes     = 32
)

// Hasher makes and checks hashes, a few at once; the rest wait. Make one with New.
type Hasher struct {
	cost  Scheme
	slots chan struct{}
	decoy string // what is checked where there is no hash
}

// Scheme is an algorithm and its cost: a Cost or Iterations.
type Scheme interface {
	key(password string, salt []byte, length int) []byte
	format(salt, key []byte) string
}

// Best is the scheme for new hashes.
func Best() Scheme {
	if fips140.Enabled() {
		return Approved
	}
	return Default
}

// New makes a Hasher, whose new hashes are of a scheme.
func New(c Scheme) *Hasher {
	return &Hasher{cost: c, slots: make(chan struct{}, atOnce), decoy: c.format(random(saltBytes), random(keyBytes))}
}

// Prepare is a password in the form in which it is hashed, whatever keyboard it was typed
// on: some compose letters with accents, some don't (RFC 8265, OpaqueString). A password
// with characters that the RFC leaves out stays as it is.
func Prepare(password string) string {
	if prepared, err := precis.OpaqueString.String(password); err == nil && utf8.ValidString(password) {
		return prepared
	}
	return password
}

// Hash makes the hash of a password. Its error is that ctx ended before its turn
// came.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.wait(ctx); err != nil {
		return "", err
	}
	defer h.done()
	salt := random(saltBytes)
	return h.cost.format(salt, h.cost.key(Prepare(password), salt, keyBytes)), nil
}

// Verify reports whether a password is that of a hash, and whether the hash is
// other than those that Hash makes: of another scheme, or of a password as it was typed. An empty hash is that of no password,
// and costs the same time. Its error is that ctx ended before its turn came, or
// that the hash is malformed.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (ok, outdated bool, err error) {
	cost, salt, key, err := parse(cmp.Or(hash, h.decoy))
	if err != nil {
		return false, false, err
	}
	if err := h.wait(ctx); err != nil {
		return false, false, err
	}
	defer h.done()
	same := func(password string) bool {
		return subtle.ConstantTimeCompare(cost.key(password, salt, len(key)), key) == 1
	}
	prepared := Prepare(password)
	ok = same(prepared)
	asTyped := !ok && prepared != password && same(password)
	return (ok || asTyped) && hash != "", asTyped || cost != h.cost, nil
}

func (h *Hasher) wait(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (h *Hasher) done() { <-h.slots }

// Cost is the cost of one hash with argon2id.
type Cost struct {
	Memory  uint32 // KiB
	Passes  uint32 // over the memory
	Threads uint8
}

// Default is the first choice of OWASP's list.
var Default = Cost{Memory: 19 * 1024, Passes: 2, Threads: 1}

// most bounds what a hash in the data file may cost.
var most = Cost{Memory: 256 * 1024, Passes: 16, Threads: 4}

func (c Cost) key(password string, salt []byte, length int) []byte {
	return argon2.IDKey([]byte(password), salt, c.Passes, c.Memory, c.Threads, uint32(length))
}

func (c Cost) format(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, c.Memory, c.Passes, c.Threads, b64.EncodeToString(salt), b64.EncodeToString(key))
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: it ends the program when there is no randomness
	return b
}

// errForm reveals nothing about the hash, since errors are logged.
var errForm = errors.New("the hash of a password is malformed; make a sign-in link with: teamdata signin-link")

// parse reads a hash. It takes what format writes, within bounds.
func parse(hash string) (s Scheme, salt, key []byte, err error) {
	parts := strings.Split(hash, "$")
	s, ok := parseIterations(parts)
	if !ok {
		if s, ok = parseCost(parts); !ok {
			return nil, nil, nil, errForm
		}
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[len(parts)-2])
	key, keyErr := b64.DecodeString(parts[len(parts)-1])
	if saltErr != nil || keyErr != nil || len(salt) < minSaltBytes || len(key) < keyBytes || s.format(salt, key) != hash {
		return nil, nil, nil, errForm
	}
	return s, salt, key, nil
}

func parseCost(parts []string) (c Cost, ok bool) {
	if len(parts) != 6 || parts[1] != "argon2id" {
		return c, false
	}
	_, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.Memory, &c.Passes, &c.Threads)
	return c, err == nil && c.bounded()
}

func (c Cost) bounded() bool {
	return c.Passes >= 1 && c.Threads >= 1 && c.Memory >= 8*uint32(c.Threads) &&
		c.Memory <= most.Memory && c.Passes <= most.Passes && c.Threads <= most.Threads
}
