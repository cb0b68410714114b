package app

import (
	"crypto/x509"
	"fmt"
	"os/signal"
	"syscall"

	settingspage "teamdata/admin/settings"
	"teamdata/internal/httpclient"
	"teamdata/server/certificates"
)

// settingsFiles is what was in the files that settings name, where it doesn't depend on
// the data.
type settingsFiles struct {
	brand                     settingspage.Brand
	webhookCA, smtpCA, acmeCA *x509.CertPool      // nil: the system's alone
	proxyCA                   *x509.CertPool      // as well
	certificate               *certificates.Files // nil: there is no --tls-cert
}

// loadFiles reads the files that settings name before the data is made, or anything else: a
// start that they stop leaves nothing behind. What they hold later is asked for by SIGHUP.
func (a *App) loadFiles() (err error) {
	s, f := &a.settings, &a.files
	if !s.HTTP {
		signal.Notify(a.reload, syscall.SIGHUP)
	}
	if f.brand, err = s.loadBrand(); err != nil {
		return err
	}
	if _, err = Options(s.SealKeyFile); err != nil {
		return err
	}
	for _, ca := range []struct {
		flag, file string
		roots      **x509.CertPool
	}{{"--webhook-ca", s.WebhookCA, &f.webhookCA}, {"--smtp-ca", s.SMTPCA, &f.smtpCA}, {"--acme-ca", s.ACMECA, &f.acmeCA}, {"--egress-proxy-ca", s.EgressProxyCA, &f.proxyCA}} {
		if *ca.roots, err = httpclient.Roots(ca.flag, ca.file); err != nil {
			return SettingError{err}
		}
	}
	if s.TLSCert == "" {
		return nil
	}
	if f.certificate, err = certificates.NewFiles(certificates.FilesConfig{Cert: s.TLSCert, Key: s.TLSKey, Log: a.log}); err != nil {
		return SettingError{fmt.Errorf("--tls-cert: %w", err)}
	}
	return nil
}
