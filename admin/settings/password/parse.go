package password

import (
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"
)

// parse reads a hash. It takes what format writes, within bounds.
func parse(hash string) (p params, salt, key []byte, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return p, nil, nil, errForm
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &p.memory, &p.time, &p.threads); err != nil || !p.bounded() {
		return p, nil, nil, errForm
	}
	b64 := base64.RawStdEncoding.Strict()
	salt, saltErr := b64.DecodeString(parts[4])
	key, keyErr := b64.DecodeString(parts[5])
	if saltErr != nil || keyErr != nil || len(salt) < minSaltBytes || len(key) < keyBytes || p.format(salt, key) != hash {
		return p, nil, nil, errForm
	}
	return p, salt, key, nil
}

func (p params) bounded() bool {
	return p.time >= 1 && p.threads >= 1 && p.memory >= 8*uint32(p.threads) &&
		p.memory <= most.memory && p.time <= most.time && p.threads <= most.threads
}
