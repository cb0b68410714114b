package app

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"teamdata/internal/atomicfile"
	"teamdata/internal/localca"
	"teamdata/server/certificates"
)

// secure finds the certificate to serve with.
func (a *Appliance) secure(ctx context.Context) (err error) {
	switch s := &a.settings; {
	case s.HTTP:
		return nil
	case s.TLSCert != "":
		a.certificates, err = a.ownFiles()
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

func (a *Appliance) ownFiles() (certificates.Source, error) {
	files, err := certificates.NewFiles(certificates.FilesConfig{Cert: a.settings.TLSCert, Key: a.settings.TLSKey, Log: a.log})
	if err != nil {
		return nil, fmt.Errorf("--tls-cert: %w", err)
	}
	// Only here: elsewhere a terminal that is closed is to end the program.
	a.hangUps = make(chan os.Signal, 1)
	signal.Notify(a.hangUps, syscall.SIGHUP)
	return files, nil
}

// localCA is an authority of this machine's own, whose certificate is written
// beside the data file for clients to trust.
func (a *Appliance) localCA(ctx context.Context) (*certificates.Local, error) {
	file, err := filepath.Abs(a.settings.Data + ".ca.pem")
	if err != nil {
		return nil, err
	}
	a.caFile = file
	name, _ := os.Hostname() // without a name of its own the machine is still localhost
	return certificates.NewLocal(ctx, a.store, certificates.LocalConfig{
		Hosts: localca.LocalHosts(name), Log: a.log,
		Trusted: func(caPEM []byte) error { return atomicfile.Write(file, caPEM, 0o644) },
	})
}

func (a *Appliance) byACME(ctx context.Context) (certificates.Source, error) {
	s := &a.settings
	roots, err := Roots("--acme-ca", s.ACMECA)
	if err != nil {
		return nil, err
	}
	local, err := a.localCA(ctx)
	if err != nil {
		return nil, err
	}
	acme, err := certificates.NewACME(ctx, a.store, certificates.ACMEConfig{
		Domains: s.Domains, Directory: s.ACMEDirectory, RootCAs: roots, Email: s.ACMEEmail, HTTP01: s.ACMEHTTP != "",
		Local: local, UserAgent: "teamdata/" + a.settings.Version, Log: a.log,
	})
	if err != nil || s.ACMEHTTP == "" {
		return acme, err
	}
	if err = a.challenges.open(s.ACMEHTTP, acme.Challenges()); err == nil {
		a.log.Info().Stringer("address", a.challenges.listener.Addr()).Msg("answering the ACME authority over plain HTTP")
	}
	return acme, err
}

// keepSecure renews certificates until ctx is done.
func (a *Appliance) keepSecure(ctx context.Context) {
	if a.certificates == nil {
		return
	}
	defer a.challenges.close()
	go a.challenges.serve(a.log)
	certificates.Run(ctx, a.certificates, a.hangUps)
}
