package main

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/delivery"
	"teamdata/server"
	"teamdata/server/certificates"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// stopGrace is how long a graceful stop may take. What is unfinished then is
// made again at the next start.
const stopGrace = 8 * time.Second

// sweepEvery is how often what is kept no longer is dropped.
const sweepEvery = 10 * time.Minute

// appliance is a running teamdata: a store, its two faces and its dispatcher.
type appliance struct {
	settings   settings
	log        zerolog.Logger
	store      *boltstore.Store
	server     *server.Server
	admin      *admin.Admin
	socket     adminSocket
	dispatcher *delivery.Dispatcher
	mailer     *delivery.Mailer
	listener   net.Listener
	tls        *tls.Config // nil: plain HTTP
	caFile     string

	certificates certificates.Source // nil: plain HTTP
	challenges   challenges
	hangUps      chan os.Signal // nil: they end the program

	metrics      net.Listener // nil: metrics are on the admin socket alone
	endObserving func()       // nil: nobody looks on yet
}

// start opens the data file, fills it if it is to be filled, and binds the
// listeners. What it began is ended again when it fails.
func start(ctx context.Context, s settings, log zerolog.Logger) (a *appliance, err error) {
	a = &appliance{settings: s, log: log}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if err = a.bind(); err != nil {
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
	a.warnOfModes()
	if err = a.openSocket(); err != nil {
		return a, err
	}
	if err = a.wire(); err != nil {
		return a, err
	}
	if err = a.observe(ctx); err != nil {
		return a, err
	}
	return a, writeReadyFile(a.settings.ReadyFile, a.url(), a.caFile)
}

func (a *appliance) wire() error {
	a.wireAdmin()
	config, err := a.serverConfig()
	if err != nil {
		return err
	}
	a.server = server.New(a.store, config)
	return a.wireSending()
}

// run serves and sends until ctx is done, then stops gracefully.
func (a *appliance) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	grace, endGrace := context.WithCancel(context.Background())
	defer endGrace()

	served, sent := make(chan error, 2), make(chan error, 1)
	go func() { served <- a.server.Serve(a.listener, a.tls) }()
	go func() { served <- a.socket.serve() }()
	go func() { sent <- a.dispatcher.Run(ctx, grace) }()
	var aside sync.WaitGroup
	aside.Go(func() { a.mailer.Run(ctx, grace) })
	aside.Go(func() { a.sweep(ctx) })
	aside.Go(func() { a.keepKeyUse(ctx) })
	aside.Go(func() { a.keepSecure(ctx) })
	aside.Go(func() { a.watchCertificates(ctx) })
	aside.Go(func() { a.backUp(ctx) })

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
	failed = errors.Join(failed, a.server.Shutdown(grace), a.socket.http.Shutdown(grace), <-served, <-served, <-sent)
	aside.Wait()
	a.writeKeyUse(grace)
	return errors.Join(failed, a.close())
}

func (a *appliance) sweep(ctx context.Context) {
	every(ctx, sweepEvery, func(time.Time) {
		if err := store.Sweep(ctx, a.store, a.settings.DeliveryRetention); err != nil && ctx.Err() == nil {
			a.log.Error().Err(err).Msg("old records can't be dropped")
		}
	})
}

func (a *appliance) close() error {
	if a.listener != nil {
		a.listener.Close() // again, after the server did: for a start that failed
	}
	a.socket.close()
	a.challenges.close()
	if a.endObserving != nil {
		a.endObserving()
	}
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}
