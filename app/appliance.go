// Package app is a running teamdata: it opens the data file, wires the store,
// the API, the settings page, the admin API and the sending of webhooks and mail to
// one another as the settings say, and runs them until it is told to stop.
//
// Start (appliance.go) goes through the parts in the order of its lines, each in a
// file of its own: listeners.go binds, opening.go opens and fills the data file,
// securing.go finds the certificate, adminface.go, settingsface.go and sending.go
// make the faces and the senders, observing.go lets people and service managers
// look on.
package app

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

// StopGrace is how long a graceful stop may take. What is unfinished then is
// made again at the next start.
const StopGrace = 8 * time.Second

// sweepEvery is how often what is kept no longer is dropped.
const sweepEvery = 10 * time.Minute

// Appliance is a running teamdata: a store, its two faces and its dispatcher.
type Appliance struct {
	settings   Settings
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

// Start opens the data file, fills it if it is to be filled, and binds the
// listeners. What it began is ended again when it fails.
func Start(ctx context.Context, s Settings, log zerolog.Logger) (a *Appliance, err error) {
	a = &Appliance{settings: s, log: log}
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
	return a, WriteReadyFile(a.settings.ReadyFile, a.URL(), a.caFile)
}

// CAFile holds the certificate of the local CA, for clients to trust; "" without one.
func (a *Appliance) CAFile() string { return a.caFile }

// Store is the open data file.
func (a *Appliance) Store() store.Store { return a.store }

func (a *Appliance) wire() error {
	a.wireAdmin()
	config, err := a.serverConfig()
	if err != nil {
		return err
	}
	a.server = server.New(a.store, config)
	return a.wireSending()
}

// Run serves and sends until ctx is done, then stops gracefully.
func (a *Appliance) Run(ctx context.Context) error {
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
	time.AfterFunc(StopGrace, endGrace)
	failed = errors.Join(failed, a.server.Shutdown(grace), a.socket.http.Shutdown(grace), <-served, <-served, <-sent)
	aside.Wait()
	a.writeKeyUse(grace)
	return errors.Join(failed, a.close())
}

func (a *Appliance) sweep(ctx context.Context) {
	every(ctx, sweepEvery, func(time.Time) {
		if err := store.Sweep(ctx, a.store, a.settings.DeliveryRetention); err != nil && ctx.Err() == nil {
			a.log.Error().Err(err).Msg("old records can't be dropped")
		}
	})
}

func (a *Appliance) close() error {
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
