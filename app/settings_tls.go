package app

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"strings"

	"teamdata/server/certificates"
)

// LetsEncryptTerms is where the terms of the default ACME authority are.
const LetsEncryptTerms = "https://letsencrypt.org/repository/"

// checkTLS holds the flags about the certificate to one another.
func (s *Settings) checkTLS() error {
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
func (s *Settings) checkNoACME() error {
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

func (s *Settings) checkACME() error {
	for _, name := range s.Domains {
		if err := certificates.CheckDomain(name); err != nil {
			return fmt.Errorf("--domain: %w", err)
		}
	}
	if !strings.HasPrefix(s.ACMEDirectory, "https://") {
		return fmt.Errorf("--acme-directory %q is no https:// URL, such as %s", s.ACMEDirectory, certificates.LetsEncrypt)
	}
	if !s.ACMEAcceptTerms {
		terms := LetsEncryptTerms
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
