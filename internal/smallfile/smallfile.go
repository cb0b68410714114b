// Package smallfile reads files that people name in settings: a password, a key,
// certificates, a logo. Whatever they name by mistake, as a device that never ends,
// takes no more memory than such a file.
//
// It imports nothing of ours.
package smallfile

import (
	"crypto/tls"
	"errors"
	"io"
	"io/fs"
	"os"
)

// Max is how many bytes a file may have: as many as the CAs of a system many times over.
const Max = 4 << 20

var errTooLarge = errors.New("it has more than 4 MiB")

// Read reads a file of at most [Max] bytes. Its errors name the file.
func Read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := io.ReadAll(io.LimitReader(file, Max+1))
	if err == nil && len(content) > Max {
		err = &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	return content, err
}

// KeyPair reads a certificate with its chain and its private key, as
// [tls.LoadX509KeyPair] does.
func KeyPair(certFile, keyFile string) (tls.Certificate, error) {
	cert, err := Read(certFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	key, err := Read(keyFile)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(cert, key)
}
