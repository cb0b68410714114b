package seal

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"teamdata/internal/hint"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// maxKeyFile is the maximum size of a key file in bytes: it allows for white
// space, and avoids reading some other large file.
const maxKeyFile = 4096

// howToMake ends the errors that a new file would fix. It names another file,
// since a malformed key may still be the one to keep.
const howToMake = "make one with: openssl rand -base64 32 > seal.key"

// encoding rejects stray bits after the last byte, so a key has one encoding.
var encoding = base64.StdEncoding.Strict()

// ReadKeyFile reads the key from a file that holds its 32 bytes as 64 hex digits
// or as 44 characters of standard base64, on one line; white space around it does
// not count. The errors are one line for the operator, with the fix, and contain
// no part of the file.
func ReadKeyFile(path string) (*Key, error) {
	content, err := readLimited(path)
	if err != nil {
		return nil, explain(path, err)
	}
	key, err := decodeKey(content)
	if err != nil {
		return nil, fmt.Errorf("key file %s %w", path, err)
	}
	return newKey(key)
}

// readLimited reads up to one byte more than maxKeyFile, to detect a file that is
// too long.
func readLimited(path string) ([]byte, error) {
	// Opening a pipe would wait for a writer, and it could be read only once.
	if info, err := os.Stat(path); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		return nil, errPipe
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxKeyFile+1))
}

var errPipe = errors.New("a pipe")

func explain(path string, err error) error {
	switch {
	case errors.Is(err, errPipe):
		return hint.With(fmt.Errorf("key file %s is a pipe", path), "write the key into a file, and give the path of that")
	case errors.Is(err, syscall.EISDIR):
		return hint.With(fmt.Errorf("key file %s is a folder", path), "give the path of a file, or "+howToMake)
	case errors.Is(err, fs.ErrNotExist):
		return hint.With(absent{path, err}, "give the path of the key file, or "+howToMake)
	case errors.Is(err, fs.ErrPermission):
		return hint.With(fmt.Errorf("key file %s can't be read by this user", path), "correct the owner and mode of the file (0400) and of its folder")
	}
	return hint.With(fmt.Errorf("key file %s can't be read: %w", path, err), "give the path of another file")
}

// absent is a key file that is not there, and why.
type absent struct {
	path string
	error
}

func (a absent) Error() string { return fmt.Sprintf("key file %s does not exist", a.path) }

func (a absent) Unwrap() error { return a.error }

// decodeKey reads the key out of a file's content. The errors continue the file's
// path.
func decodeKey(content []byte) (key []byte, err error) {
	text := strings.TrimSpace(string(content))
	switch {
	case len(content) > maxKeyFile:
		return nil, hint.New("is too long for a key file, which holds 64 hex digits or 44 characters of base64", howToMake)
	case text == "":
		return nil, hint.New("is empty", howToMake)
	case strings.ContainsAny(text, "\r\n"):
		return nil, hint.New("has more than one line", "leave the one with the key, or "+howToMake)
	case len(text) == hex.EncodedLen(KeySize):
		key, err = hex.DecodeString(text)
	case len(text) == encoding.EncodedLen(KeySize):
		key, err = encoding.DecodeString(text)
	default:
		return nil, hint.With(fmt.Errorf("holds %d bytes of text, and a key is 64 hex digits or 44 characters of base64", len(text)), howToMake)
	}
	if err != nil || len(key) != KeySize {
		return nil, hint.New("holds neither 64 hex digits nor the base64 of 32 bytes", howToMake)
	}
	if bytes.Equal(key, make([]byte, KeySize)) {
		return nil, hint.New("holds a key of only zeros, which anyone can guess", howToMake)
	}
	return key, nil
}
