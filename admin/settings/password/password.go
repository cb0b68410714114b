// Package password hashes passwords with argon2id, in the PHC string format.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/argon2"
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
	slots chan struct{}
	decoy string // what is checked where there is no hash
}

// New makes a Hasher.
func New() *Hasher {
	h := &Hasher{slots: make(chan struct{}, atOnce)}
	h.decoy = current.format(random(saltBytes), random(keyBytes))
	return h
}

// Hash makes the hash of a password. Its error is that ctx ended before its turn
// came.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	if err := h.wait(ctx); err != nil {
		return "", err
	}
	defer h.done()
	salt := random(saltBytes)
	return current.format(salt, current.key(password, salt, keyBytes)), nil
}

// Verify tells whether a password is that of a hash, and whether the hash was made
// with other parameters than Hash uses now. An empty hash is that of no password,
// and costs the same time. Its error is that ctx ended before its turn came, or
// that the hash is malformed.
func (h *Hasher) Verify(ctx context.Context, hash, password string) (ok, outdated bool, err error) {
	against := hash
	if hash == "" {
		against = h.decoy
	}
	p, salt, key, err := parse(against)
	if err != nil {
		return false, false, err
	}
	if err := h.wait(ctx); err != nil {
		return false, false, err
	}
	defer h.done()
	same := subtle.ConstantTimeCompare(p.key(password, salt, len(key)), key) == 1
	return same && hash != "", p != current, nil
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

// params are what a hash costs.
type params struct {
	memory  uint32 // KiB
	time    uint32 // passes over it
	threads uint8
}

// current is what new hashes cost: the first choice of OWASP's list.
var current = params{memory: 19 * 1024, time: 2, threads: 1}

// most bounds what a hash in the data file may cost.
var most = params{memory: 256 * 1024, time: 16, threads: 4}

func (p params) key(password string, salt []byte, length int) []byte {
	return argon2.IDKey([]byte(password), salt, p.time, p.memory, p.threads, uint32(length))
}

func (p params) format(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s",
		argon2.Version, p.memory, p.time, p.threads, b64.EncodeToString(salt), b64.EncodeToString(key))
}

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: it ends the program when there is no randomness
	return b
}

// errForm says nothing of the hash itself, for errors are logged.
var errForm = errors.New("the hash of a password is malformed; make a sign-in link with: teamdata signin-link")
