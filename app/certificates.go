package app

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
	"teamdata/server/certificates"
)

// loadCertificates finds the certificate to serve with.
func (a *App) loadCertificates(ctx context.Context) (err error) {
	switch s := &a.settings; {
	case s.HTTP:
		return nil
	case s.TLSCert != "":
		a.certificates = a.files.certificate
	case len(s.Domains) > 0:
		a.certificates, err = a.byACME(ctx)
	default:
		a.certificates, err = a.localCA(ctx)
	}
	if err != nil {
		return err
	}
	a.tls = a.certificates.TLS()
	return nil
}

// localCA returns this machine's own authority, whose certificate is written next
// to the data file for clients to trust.
func (a *App) localCA(ctx context.Context) (*certificates.Local, error) {
	file, err := filepath.Abs(a.data.beside(a.settings.StateDir) + ".ca.pem")
	if err != nil {
		return nil, err
	}
	a.caFile = file
	name, _ := os.Hostname() // without a name of its own the machine is still localhost
	return certificates.NewLocal(ctx, a.store, certificates.LocalConfig{
		Hosts: localca.LocalHosts(name), Log: a.log,
		Now:     func() time.Time { return time.Now().Add(a.store.ClockOffset()) }, // nodes agree on what is valid
		Trusted: func(caPEM []byte) error { return atomicfile.Write(file, caPEM, 0o644) },
	})
}

func (a *App) byACME(ctx context.Context) (certificates.Source, error) {
	s := &a.settings
	local, err := a.localCA(ctx)
	if err != nil {
		return nil, err
	}
	acme, err := certificates.NewACME(ctx, a.store, certificates.ACMEConfig{
		Domains: s.Domains, Directories: s.ACMEDirectories, RootCAs: a.files.acmeCA, Email: s.ACMEEmail, HTTP01: s.ACMEHTTP != "",
		Local: local, UserAgent: "teamdata/" + a.settings.Version, Log: a.log,
	})
	if err != nil || s.ACMEHTTP == "" {
		return acme, err
	}
	if err = a.challenges.open("--acme-http", s.ACMEHTTP, "choose another address, or let this user listen there", acme.Challenges()); err == nil {
		a.log.Info().Stringer("address", a.challenges.listener.Addr()).Msg("answering the ACME authority over plain HTTP")
	}
	return acme, err
}

// renewCertificates renews certificates until ctx is done.
func (a *App) renewCertificates(ctx context.Context) error {
	if a.certificates == nil {
		return nil
	}
	defer a.challenges.close()
	if a.challenges.listener != nil {
		go a.serveAside(&a.challenges, "--acme-http is no longer answered; restart the program")
	}
	certificates.Run(ctx, a.certificates, a.reload)
	return nil
}
