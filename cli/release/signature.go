package release

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
)

// A signature is in the form that `ssh-keygen -Y sign` writes, described in OpenSSH's
// PROTOCOL.sshsig: a text around a list of strings, each with its length before it. The
// 205 KB of golang.org/x/crypto/ssh would add all kinds of keys; Ed25519 is enough.

const (
	magic     = "SSHSIG"
	namespace = "file" // so that a signature made for something else is worth nothing here
	keyType   = "ssh-ed25519"

	firstLine = "-----BEGIN SSH SIGNATURE-----\n"
	lastLine  = "-----END SSH SIGNATURE-----\n"
)

// signature is what the text of one holds.
type signature struct {
	key       ed25519.PublicKey
	hash      string // sha256 or sha512
	signature []byte
}

// parseSignature reads a signature strictly: a text with any byte changed is no
// signature, or none of the same key and content.
func parseSignature(text []byte) (s signature, err error) {
	body, begins := strings.CutPrefix(string(text), firstLine)
	body, ends := strings.CutSuffix(body, lastLine)
	raw, err := base64.StdEncoding.Strict().DecodeString(body)
	if !begins || !ends || err != nil {
		return s, errors.New("not an SSH signature, as ssh-keygen -Y sign writes it")
	}
	raw, isSignature := bytes.CutPrefix(raw, []byte(magic))
	if !isSignature || len(raw) < 4 || binary.BigEndian.Uint32(raw) != 1 {
		return s, errors.New("not an SSH signature of version 1")
	}
	var fields [5][]byte // key, namespace, reserved, hash, signature
	for i, rest := 0, raw[4:]; i < len(fields); i++ {
		if fields[i], rest, err = stringOf(rest); err != nil {
			return s, err
		}
		if i == len(fields)-1 && len(rest) > 0 {
			return s, errors.New("followed by something else")
		}
	}
	if string(fields[1]) != namespace || len(fields[2]) > 0 {
		return s, fmt.Errorf("made for %q, not for %q", fields[1], namespace)
	}
	if s.key, err = parseKey(fields[0]); err != nil {
		return s, err
	}
	s.hash = string(fields[3])
	s.signature, err = typed(fields[4], ed25519.SignatureSize)
	return s, err
}

// of reports whether it is the key's signature of a content.
func (s signature) of(content []byte) bool {
	var sum []byte
	switch s.hash {
	case "sha256":
		sum256 := sha256.Sum256(content)
		sum = sum256[:]
	case "sha512":
		sum512 := sha512.Sum512(content)
		sum = sum512[:]
	default:
		return false
	}
	signed := []byte(magic)
	for _, field := range [][]byte{[]byte(namespace), nil, []byte(s.hash), sum} {
		signed = binary.BigEndian.AppendUint32(signed, uint32(len(field)))
		signed = append(signed, field...)
	}
	return ed25519.Verify(s.key, signed, s.signature)
}

// parseKey reads the binary form of a public key.
func parseKey(blob []byte) (ed25519.PublicKey, error) {
	return typed(blob, ed25519.PublicKeySize)
}

// typed reads the type ssh-ed25519, and then as many bytes.
func typed(blob []byte, size int) ([]byte, error) {
	kind, rest, err := stringOf(blob)
	if err != nil {
		return nil, err
	}
	if string(kind) != keyType {
		return nil, fmt.Errorf("of the type %q, and only %s is supported", kind, keyType)
	}
	content, rest, err := stringOf(rest)
	if err == nil && len(content) != size || len(rest) > 0 {
		err = errors.New("not of the right length")
	}
	return content, err
}

// stringOf takes the first string off a list of them.
func stringOf(raw []byte) (first, rest []byte, err error) {
	if len(raw) < 4 || uint64(binary.BigEndian.Uint32(raw)) > uint64(len(raw)-4) {
		return nil, nil, errors.New("cut off")
	}
	end := 4 + binary.BigEndian.Uint32(raw)
	return raw[4:end], raw[end:], nil
}

// fingerprint names a key as ssh-keygen -l does.
func fingerprint(key ed25519.PublicKey) string {
	blob := binary.BigEndian.AppendUint32(nil, uint32(len(keyType)))
	blob = append(blob, keyType...)
	blob = binary.BigEndian.AppendUint32(blob, uint32(len(key)))
	sum := sha256.Sum256(append(blob, key...))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}
