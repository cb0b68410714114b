package main

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/spf13/pflag"

	"teamdata/server/certificates"
)

// tlsSettings are the flags of serve about its certificate.
type tlsSettings struct {
	TLSCert string
	TLSKey  string

	Domains         []string
	ACMEAcceptTerms bool
	ACMEEmail       string
	ACMEHTTP        string
	ACMEDirectory   string
	ACMECA          string
}

func (s *tlsSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.TLSCert, "tls-cert", "", "a PEM `file` with the certificate to serve with, and its chain; read again when it changes, and on SIGHUP")
	f.StringVar(&s.TLSKey, "tls-key", "", "a PEM `file` with the private key of --tls-cert")
	f.StringSliceVar(&s.Domains, "domain", nil, "a `name` of this server to get a certificate for, by ACME")
	f.BoolVar(&s.ACMEAcceptTerms, "acme-accept-terms", false, "accept the terms of the ACME authority; Let's Encrypt's are at "+letsEncryptTerms)
	f.StringVar(&s.ACMEEmail, "acme-email", "", "an `address` that the ACME authority may write to")
	f.StringVar(&s.ACMEHTTP, "acme-http", "", "`host:port` to answer the ACME authority on over plain HTTP, which it reaches as port 80 of the domains; others are sent to HTTPS")
	f.StringVar(&s.ACMEDirectory, "acme-directory", certificates.LetsEncrypt, "the `URL` of the ACME authority's directory")
	f.StringVar(&s.ACMECA, "acme-ca", "", "a PEM `file` with CAs of the ACME authority's own server, to trust beside the system's")
}

const letsEncryptTerms = "https://letsencrypt.org/repository/"

// checkTLS holds the flags about the certificate to one another.
func (s *settings) checkTLS() error {
	files := s.TLSCert != "" || s.TLSKey != ""
	switch {
	case s.TLSCert != "" && s.TLSKey == "":
		return errors.New("--tls-cert needs --tls-key, the file with the certificate's private key")
	case s.TLSKey != "" && s.TLSCert == "":
		return errors.New("--tls-key needs --tls-cert, the file with the key's certificate")
	case s.HTTP && files:
		return errors.New("--tls-cert is for HTTPS; leave it out, or --http")
	case s.HTTP && len(s.Domains) > 0:
		return errors.New("--domain gets a certificate for HTTPS; leave it out and let the proxy get one, or leave out --http")
	case files && len(s.Domains) > 0:
		return errors.New("--tls-cert and --domain are two certificates; leave out one")
	case s.Demo && (files || len(s.Domains) > 0):
		return errors.New("--demo brings its own certificate; leave out --tls-cert and --domain")
	case len(s.Domains) == 0:
		return s.checkNoACME()
	}
	return s.checkACME()
}

// checkNoACME refuses flags that do nothing: without --domain nobody is called.
func (s *tlsSettings) checkNoACME() error {
	for flag, given := range map[string]bool{
		"--acme-accept-terms": s.ACMEAcceptTerms, "--acme-email": s.ACMEEmail != "", "--acme-http": s.ACMEHTTP != "",
		"--acme-directory": cmp.Or(s.ACMEDirectory, certificates.LetsEncrypt) != certificates.LetsEncrypt, "--acme-ca": s.ACMECA != "",
	} {
		if given {
			return fmt.Errorf("%s needs --domain, the name to get a certificate for, such as data.example.com", flag)
		}
	}
	return nil
}

func (s *tlsSettings) checkACME() error {
	for _, name := range s.Domains {
		if err := certificates.CheckDomain(name); err != nil {
			return fmt.Errorf("--domain: %w", err)
		}
	}
	if !strings.HasPrefix(s.ACMEDirectory, "https://") {
		return fmt.Errorf("--acme-directory %q is no https:// URL, such as %s", s.ACMEDirectory, certificates.LetsEncrypt)
	}
	if !s.ACMEAcceptTerms {
		terms := letsEncryptTerms
		if s.ACMEDirectory != certificates.LetsEncrypt {
			terms = "the address that " + s.ACMEDirectory + " has as termsOfService"
		}
		return fmt.Errorf("--domain needs --acme-accept-terms: read the terms of the authority, at %s, and accept them with it", terms)
	}
	if _, _, err := net.SplitHostPort(s.ACMEHTTP); s.ACMEHTTP != "" && err != nil {
		return fmt.Errorf("--acme-http %q is not host:port, such as 0.0.0.0:80", s.ACMEHTTP)
	}
	return nil
}
