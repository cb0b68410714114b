package certificates

import (
	"context"
	"crypto/tls"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
	"teamdata/store"
)

// FilesConfig is what a Files is made from.
type FilesConfig struct {
	Cert, Key string // PEM files: the certificate with its chain, and its private key
	Log       zerolog.Logger
	Now       func() time.Time // nil: time.Now
}

// Files serves a certificate that the operator keeps in two files. When the files
// change, it serves the new certificate, unless that is unusable.
type Files struct {
	config FilesConfig
	served atomic.Pointer[tls.Certificate]
	stats  []fs.FileInfo // the files when they were read last
	lastError
}

// NewFiles reads the files. It fails when their certificate can't be served now.
func NewFiles(c FilesConfig) (*Files, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	f := &Files{config: c, lastError: lastError{log: c.Log, now: c.Now}}
	return f, f.read()
}

// TLS is the configuration to serve with.
func (f *Files) TLS() *tls.Config { return tlsConfig(f.get) }

func (f *Files) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.served.Load(), nil }

// Refresh reads the files again if they have changed, or if they were unusable the
// last time: they may have been half written.
func (f *Files) Refresh(context.Context) {
	changed := !slices.EqualFunc(f.stat(), f.stats, same)
	if !changed && f.status("").LastError == "" {
		return
	}
	if changed {
		f.logNext()
	}
	if err := f.read(); err != nil {
		f.record(err, "the new certificate can't be used; the previous one is still served")
		return
	}
	f.reset()
	f.log.Info().Str("file", f.config.Cert).Time("notAfter", f.served.Load().Leaf.NotAfter).Msg("serving the new certificate")
}

// Status describes the one certificate.
func (f *Files) Status() []store.CertificateStatus {
	status := f.status(f.config.Cert)
	status.NotAfter = f.served.Load().Leaf.NotAfter
	return []store.CertificateStatus{status}
}

// read reads the files, and serves their certificate from then on.
func (f *Files) read() error {
	f.stats = f.stat() // before they are read, so that a change meanwhile is noticed
	pair, err := smallfile.KeyPair(f.config.Cert, f.config.Key)
	if err != nil {
		return hint.With(fmt.Errorf("certificate file %s with key file %s: %w", f.config.Cert, f.config.Key, err), "give PEM files with a certificate and its key")
	}
	if now := f.config.Now(); now.Before(pair.Leaf.NotBefore) || now.After(pair.Leaf.NotAfter) {
		return hint.With(fmt.Errorf("certificate file %s: it is valid from %s to %s", f.config.Cert,
			pair.Leaf.NotBefore.Format(time.RFC3339), pair.Leaf.NotAfter.Format(time.RFC3339)), "put a current one there")
	}
	f.served.Store(&pair)
	return nil
}

// stat describes both files; nil for one that is not there.
func (f *Files) stat() []fs.FileInfo {
	cert, _ := os.Stat(f.config.Cert)
	key, _ := os.Stat(f.config.Key)
	return []fs.FileInfo{cert, key}
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == b
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
