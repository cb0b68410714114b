package app

import (
	"context"
	"fmt"

	"teamdata/store"
	"teamdata/store/boltstore"
)

// open opens the data file, sealed if there is a key for it.
func (a *Appliance) open() error {
	o, err := Options(a.settings.SealKeyFile)
	if err != nil {
		return err
	}
	if a.store, err = boltstore.Open(a.settings.Data, o); err != nil {
		return err
	}
	if a.store.SealedNow() {
		a.log.Warn().Str("sealKeyFile", a.settings.SealKeyFile).Msg(Sealed)
	}
	if from, kept := a.store.MigratedFrom(); from > 0 {
		a.log.Warn().Uint64("fromSchema", from).Str("copy", kept).Msg(Migrated)
	}
	return nil
}

// seed fills a data file that holds no org.
func (a *Appliance) seed(ctx context.Context) error {
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
	return a.fill(ctx)
}

// fill imports the seed, into a copy that takes the data file's place.
func (a *Appliance) fill(ctx context.Context) error {
	if err := a.store.Close(); err != nil {
		return err
	}
	sum, _, err := Import(ctx, a.settings.Data, a.settings.SealKeyFile, a.settings.Seed, nil)
	if err != nil {
		return fmt.Errorf("--seed: %w", err)
	}
	a.log.Info().Str("seed", a.settings.Seed).Int("orgs", sum.Orgs).Int("members", sum.Members).
		Int("auditEntries", sum.AuditEntries).Int("apiKeys", sum.APIKeys).Int("endpoints", sum.Endpoints).Msg("filled the data file")
	return a.open()
}
