package listen

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"time"

	"teamdata/internal/atomicfile"
	"teamdata/internal/hint"
	"teamdata/internal/localca"
	"teamdata/internal/smallfile"
)

// tlsConfig finds the certificate to receive with: the user's own, or one from the local
// CA, whose certificate is in caFile for senders to trust.
func (s *settings) tlsConfig(now time.Time) (config *tls.Config, caFile string, err error) {
	switch {
	case s.HTTP:
		return nil, "", nil
	case s.TLSCert != "":
		pair, err := smallfile.KeyPair(s.TLSCert, s.TLSKey)
		if err != nil {
			return nil, "", hint.With(fmt.Errorf("--tls-cert %s and --tls-key %s: %w", s.TLSCert, s.TLSKey, err), "give PEM files with a certificate and its key")
		}
		return &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, "", nil
	}
	folder, err := s.tlsDir()
	if err != nil {
		return nil, "", err
	}
	ca, caFile, err := loadCA(folder, now)
	if err != nil {
		return nil, "", fmt.Errorf("--tls-dir %s: %w", folder, err)
	}
	if config, err = ca.ServerConfig(now, s.hosts()...); err != nil {
		return nil, "", hint.With(fmt.Errorf("--tls-dir %s: %w", folder, err), "remove the folder for a new CA, and give that to senders")
	}
	return config, caFile, nil
}

func (s *settings) tlsDir() (string, error) {
	if s.TLSDir != "" {
		return filepath.Abs(s.TLSDir)
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return "", hint.With(fmt.Errorf("there is no folder for configuration (%w)", err), "name one to keep the local CA in with --tls-dir")
	}
	return filepath.Join(folder, "teamdata", "listen"), nil
}

// hosts are the names and addresses that senders may use.
func (s *settings) hosts() []string {
	name, _ := os.Hostname() // without a name the machine is still localhost
	hosts := localca.LocalHosts(name)
	host, _, _ := net.SplitHostPort(s.Listen)
	if address, err := netip.ParseAddr(host); host == "" || err == nil && address.IsUnspecified() || slices.Contains(hosts, host) {
		return hosts
	}
	return append(hosts, host)
}

// loadCA loads the CA that a folder keeps, and makes it the first time.
func loadCA(folder string, now time.Time) (ca *localca.CA, caFile string, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, "", err
	}
	keyFile, caFile := filepath.Join(folder, "ca.key.pem"), filepath.Join(folder, "ca.pem")
	ca, err = readCA(keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		if err = makeCA(keyFile, now); err == nil {
			ca, err = readCA(keyFile)
		}
	}
	if err != nil {
		return nil, "", err
	}
	return ca, caFile, atomicfile.Write(caFile, ca.CertificatePEM(), 0o600)
}

func readCA(keyFile string) (*localca.CA, error) {
	text, err := smallfile.Read(keyFile)
	if err != nil {
		return nil, err
	}
	ca, err := localca.ParseCA(text)
	if err != nil {
		return nil, hint.With(fmt.Errorf("%s: %w", filepath.Base(keyFile), err), "remove it, and give senders the new CA")
	}
	return ca, nil
}

// makeCA makes a CA, unless another start was quicker.
func makeCA(keyFile string, now time.Time) error {
	ca, err := localca.NewCA(now, "listen")
	if err != nil {
		return err
	}
	temp := fmt.Sprintf("%s.%d", keyFile, os.Getpid())
	defer os.Remove(temp)
	if err := atomicfile.Write(temp, ca.PEM(), 0o600); err != nil {
		return err
	}
	if err := os.Link(temp, keyFile); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
