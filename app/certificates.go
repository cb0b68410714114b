package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/atomicfile"
	"teamdata/internal/hint"
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
	if err = a.challenges.open(s.ACMEHTTP, acme.Challenges()); err == nil {
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
	go a.challenges.serve(a.server.Limit, a.log)
	certificates.Run(ctx, a.certificates, a.reload)
	return nil
}

// challenges answers an ACME authority over plain HTTP.
type challenges struct {
	http     http.Server
	listener net.Listener // nil: there is no need for it
}

func (c *challenges) open(address string, answer http.Handler) (err error) {
	if c.listener, err = net.Listen("tcp", address); err != nil {
		return hint.With(fmt.Errorf("--acme-http: can't listen on %s: %w", address, err), "choose another address, or let this user listen there")
	}
	c.http = http.Server{
		Handler:           answer,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      10 * time.Second,
		IdleTimeout:       30 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
	}
	return nil
}

// serve answers until close. HTTPS works without it, so its failure ends nothing else.
func (c *challenges) serve(limit func(net.Listener) net.Listener, log zerolog.Logger) {
	if c.listener == nil {
		return
	}
	if err := c.http.Serve(limit(c.listener)); !errors.Is(err, http.ErrServerClosed) {
		log.Error().Err(err).Msg("--acme-http is not answered any more; restart the program")
	}
}

func (c *challenges) close() {
	c.http.Close()
	if c.listener != nil {
		c.listener.Close() // for a start that failed
	}
}
