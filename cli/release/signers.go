package release

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// Signer is somebody whose signature is accepted.
type Signer struct {
	Name string // for people
	Key  ed25519.PublicKey
}

// ReadSigners reads a file in the form of ssh-keygen's allowed signers: a name, maybe
// options, the type and the key on each line. Keys of other types are left out. The
// only option that it knows is namespaces; any other one would limit the key, so it is
// refused.
func ReadSigners(path string) (signers []Signer, err error) {
	text, err := smallfile.Read(path)
	if err != nil {
		return nil, err
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		s, ok, err := parseSigner(line)
		if err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, n, err)
		}
		if ok {
			signers = append(signers, s)
		}
	}
	if len(signers) == 0 {
		return nil, hint.New(path+" has no key of the type "+keyType, "a line of it is written like: releases namespaces=\"file\" "+keyType+" AAAA…")
	}
	return signers, nil
}

func parseSigner(line string) (s Signer, ok bool, err error) {
	fields := strings.Fields(line)
	at := slices.IndexFunc(fields, func(f string) bool { return f == keyType })
	if at < 0 && len(fields) > 2 {
		return s, false, nil
	}
	if at != 1 && at != 2 || at == len(fields)-1 {
		return s, false, hint.New("not the line of a signer", "write a name, "+keyType+" and the key")
	}
	if at == 2 && !strings.EqualFold(fields[1], `namespaces="`+namespace+`"`) {
		return s, false, hint.New("the options "+fields[1]+" are not supported", "check the signature with ssh-keygen -Y verify instead")
	}
	s, err = ParseSigner(strings.Join(fields[at:at+2], " "))
	s.Name = fields[0]
	return s, err == nil, err
}

// ParseSigner reads a public key as it is in the file that ends in .pub: its type and
// the key, maybe with a comment.
func ParseSigner(text string) (s Signer, err error) {
	fields := strings.Fields(text)
	if len(fields) < 2 || fields[0] != keyType {
		return s, hint.New("not a public key of the type "+keyType, "it is written like: "+keyType+" AAAA…")
	}
	blob, err := base64.StdEncoding.Strict().DecodeString(fields[1])
	if err != nil {
		return s, errors.New("the key is not whole")
	}
	if s.Key, err = parseKey(blob); err != nil {
		return s, fmt.Errorf("the key is %w", err)
	}
	s.Name = "the key given"
	return s, nil
}
