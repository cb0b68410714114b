package password

import (
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
)

// Iterations is the cost of one hash with PBKDF2 and HMAC-SHA256.
type Iterations uint32

// Approved is the choice of OWASP's list for PBKDF2.
const Approved Iterations = 600_000

// mostIterations bounds what a hash in the data file may cost.
const mostIterations = 10 * Approved

func (n Iterations) key(password string, salt []byte, length int) []byte {
	key, err := pbkdf2.Key(sha256.New, password, salt, int(n), length)
	if err != nil {
		// FIPS 140-3 refuses a salt of less than 16 bytes, which we never make: no
		// password is that of such a hash.
		return random(length)
	}
	return key
}

func (n Iterations) format(salt, key []byte) string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$pbkdf2-sha256$i=%d$%s$%s", n, b64.EncodeToString(salt), b64.EncodeToString(key))
}

func parseIterations(parts []string) (n Iterations, ok bool) {
	if len(parts) != 5 || parts[1] != "pbkdf2-sha256" {
		return 0, false
	}
	_, err := fmt.Sscanf(parts[2], "i=%d", &n)
	return n, err == nil && n >= 1 && n <= mostIterations
}
