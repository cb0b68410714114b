package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"teamdata/server"
	"teamdata/server/localca"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/fixture"
	"teamdata/store/seal"
)

// open opens the data file, sealed if there is a key for it.
func (a *appliance) open() (err error) {
	var o boltstore.Options
	if file := a.settings.SealKeyFile; file != "" {
		if o.Sealer, err = seal.ReadKeyFile(file); err != nil {
			return fmt.Errorf("--seal-key-file: %w", err)
		}
	}
	if a.store, err = boltstore.Open(a.settings.Data, o); err != nil {
		return err
	}
	if a.store.SealedNow() {
		a.log.Warn().Str("sealKeyFile", a.settings.SealKeyFile).Msg("the data file is sealed from now on, and opens with this key alone: " +
			"keep a copy of the key, apart from the backups; secrets written before may still be in free pages of the file, and are in older backups")
	}
	return nil
}

func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("%s is taken by another program (%w); choose another address with --listen, or port 0 for a free one", address, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("this user may not listen on %s; choose a port from 1024 on with --listen", address)
	case err != nil:
		return nil, fmt.Errorf("can't listen on %s: %w; choose another address with --listen", address, err)
	}
	return l, nil
}

// seed fills a data file that holds no org.
func (a *appliance) seed(ctx context.Context) error {
	if a.settings.Seed == "" {
		return nil
	}
	filled := false
	err := a.store.View(ctx, func(tx store.Tx) (err error) {
		filled, err = tx.AnyOrg()
		return err
	})
	if err != nil {
		return err
	}
	if filled {
		a.log.Info().Str("seed", a.settings.Seed).Msg("the data file holds an org already; --seed is ignored")
		return nil
	}
	file, err := os.Open(a.settings.Seed)
	if err != nil {
		return fmt.Errorf("--seed: %w", err)
	}
	defer file.Close()
	sum, err := fixture.Import(ctx, a.store, file)
	if err != nil {
		return fmt.Errorf("--seed %s: %w; nothing was imported", a.settings.Seed, err)
	}
	a.log.Info().Str("seed", a.settings.Seed).Int("orgs", sum.Orgs).Int("members", sum.Members).
		Int("auditEntries", sum.AuditEntries).Int("apiKeys", sum.APIKeys).Int("endpoints", sum.Endpoints).Msg("filled the data file")
	return nil
}

// secure finds the certificate to serve with: that of the local CA, whose own
// certificate is written beside the data file for clients to trust.
func (a *appliance) secure(ctx context.Context) error {
	if a.settings.HTTP {
		return nil
	}
	name, _ := os.Hostname() // without a name of its own the machine is still localhost
	config, ca, err := server.LocalTLS(ctx, a.store, localca.LocalHosts(name), time.Now())
	if err != nil {
		return err
	}
	a.tls = config
	if a.caFile, err = filepath.Abs(a.settings.Data + ".ca.pem"); err != nil {
		return err
	}
	return writeWhole(a.caFile, ca, 0o644)
}
