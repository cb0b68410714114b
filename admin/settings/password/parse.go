package password

import (
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// parse reads a hash. It takes what format writes, within bounds.
func parse(hash string) (c Cost, salt, key []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, errForm
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.Memory, &c.Passes, &c.Threads); err != nil || !c.bounded() {
		return c, nil, nil, errForm
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[4])
	key, keyErr := b64.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(salt) < minSaltBytes || len(key) < keyBytes || c.format(salt, key) != hash {
		return c, nil, nil, errForm
	}
	return c, salt, key, nil
}

func (c Cost) bounded() bool {
	return c.Passes >= 1 && c.Threads >= 1 && c.Memory >= 8*uint32(c.Threads) &&
		c.Memory <= most.Memory && c.Passes <= most.Passes && c.Threads <= most.Threads
}
