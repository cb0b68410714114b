package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery"
	"teamdata/server"
	"teamdata/server/localca"
	"teamdata/store"
	"teamdata/store/boltstore"
	"teamdata/store/fixture"
	"teamdata/store/seal"
)

// stopGrace is how long a graceful stop may take. What is unfinished then is
// made again at the next start.
const stopGrace = 8 * time.Second

// sweepEvery is how often what is kept no longer is dropped.
const sweepEvery = 10 * time.Minute

// appliance is a running teamdata: a store, its public face and its dispatcher.
type appliance struct {
	settings   settings
	log        zerolog.Logger
	store      *boltstore.Store
	server     *server.Server
	dispatcher *delivery.Dispatcher
	mailer     *delivery.Mailer
	listener   net.Listener
	tls        *tls.Config // nil: plain HTTP
	caFile     string
}

// start opens the data file, fills it if it is to be filled, and binds the
// listener. What it began is ended again when it fails.
func start(ctx context.Context, s settings, log zerolog.Logger) (a *appliance, err error) {
	a = &appliance{settings: s, log: log}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.listener, err = listen(s.Listen); err != nil {
		return a, err
	}
	if err = a.open(); err != nil {
		return a, err
	}
	if err = a.seed(ctx); err != nil {
		return a, err
	}
	if err = a.secure(ctx); err != nil {
		return a, err
	}
	if err = a.wire(); err != nil {
		return a, err
	}
	return a, a.writeReadyFile()
}

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

func (a *appliance) wire() error {
	a.server = server.New(a.store, server.Config{
		KeyRate: a.settings.KeyRate, ClientRate: a.settings.ClientRate, Log: a.log,
	})
	return a.wireSending()
}

// url is where a client on this machine reaches the server.
func (a *appliance) url() string {
	scheme, host := "https", ""
	if a.tls == nil {
		scheme = "http"
	}
	address := a.listener.Addr().(*net.TCPAddr)
	if host = address.IP.String(); address.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return fmt.Sprintf("%s://%s", scheme, net.JoinHostPort(host, fmt.Sprint(address.Port)))
}

// writeReadyFile tells a waiting program that the listener is bound.
func (a *appliance) writeReadyFile() error {
	if a.settings.ReadyFile == "" {
		return nil
	}
	ready, err := json.Marshal(struct {
		URL    string `json:"url"`
		PID    int    `json:"pid"`
		CAFile string `json:"caFile,omitempty"`
	}{a.url(), os.Getpid(), a.caFile})
	if err != nil {
		return err
	}
	if err := writeWhole(a.settings.ReadyFile, append(ready, '\n'), 0o644); err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}

// run serves and sends until ctx is done, then stops gracefully.
func (a *appliance) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	grace, endGrace := context.WithCancel(context.Background())
	defer endGrace()

	served, sent := make(chan error, 1), make(chan error, 1)
	go func() { served <- a.server.Serve(a.listener, a.tls) }()
	go func() { sent <- a.dispatcher.Run(ctx, grace) }()
	var aside sync.WaitGroup
	aside.Go(func() { a.mailer.Run(ctx, grace) })
	aside.Go(func() { a.sweep(ctx) })

	var failed error
	select {
	case <-ctx.Done():
		a.log.Info().Msg("stopping")
	case failed = <-served: // it ends by itself only when something is wrong
		served <- nil
	case failed = <-sent:
		sent <- nil
	}
	cancel()
	time.AfterFunc(stopGrace, endGrace)
	failed = errors.Join(failed, a.server.Shutdown(grace), <-served, <-sent)
	aside.Wait()
	return errors.Join(failed, a.close())
}

func (a *appliance) sweep(ctx context.Context) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := store.Sweep(ctx, a.store, a.settings.DeliveryRetention); err != nil && ctx.Err() == nil {
			a.log.Error().Err(err).Msg("old records can't be dropped")
		}
	}
}

func (a *appliance) close() error {
	if a.listener != nil {
		a.listener.Close() // again, after the server did: for a start that failed
	}
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}

// writeWhole writes a file so that nobody ever sees half of it.
func writeWhole(path string, content []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temp.Name()) // does nothing once it has its place
	_, err = temp.Write(content)
	if err = errors.Join(err, temp.Chmod(mode), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
