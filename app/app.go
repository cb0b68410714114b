// Package app is one running server: it opens the data, wires the store, the
// public API, the settings page, the admin API and the sending of webhooks and
// mail together according to the settings, runs them, and stops them. It alone
// knows the engines, so the commands' whole-file work goes through it too. It exports
// more than 40 names because each of those commands needs one or two.
//
// Start (app.go) starts the parts in order: files.go reads the files that settings
// name, listeners.go binds, data.go opens and fills the data, which file.go or
// database.go knows how to reach, certificates.go finds the certificate, admin.go,
// announce.go and sending.go make the admin API, the settings page and the senders,
// jobs.go lists all background work, health.go and metrics.go make the server
// observable. A new setting is a field in settings.go, its validation in
// settings_check.go, and a line in the part that uses it.
//
// It may import server, admin, delivery, wire, store with its engines, and internal.
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin"
	"teamdata/delivery"
	"teamdata/internal/hint"
	"teamdata/internal/memory"
	"teamdata/internal/netguard"
	"teamdata/server"
	"teamdata/server/certificates"
	"teamdata/store"
)

// StopGrace is how long a graceful stop may take. Unfinished deliveries are
// repeated after the next start.
const StopGrace = 8 * time.Second

// closeTime is how long after that the data may take to be closed. A link that hangs
// would take longer.
const closeTime = 2 * time.Second

// App is a running server: a store, the public and the admin API on it, and the
// senders.
type App struct {
	settings   Settings
	data       location         // that settings.Data names
	now        func() time.Time // the clock
	running    context.Context  // done once Run stops
	log        zerolog.Logger
	store      store.Engine
	server     *server.Server
	admin      *admin.Admin
	socket     sideServer      // of the admin API
	guard      *netguard.Guard // of the addresses that webhooks go to
	dispatcher *delivery.Dispatcher
	mailer     *delivery.Mailer
	listener   net.Listener
	tls        *tls.Config // nil: plain HTTP
	caFile     string
	files      settingsFiles

	memory       *memory.Keeper      // nil: a server in a Go test shares the process with it
	certificates certificates.Source // nil: plain HTTP
	challenges   sideServer          // of the ACME authority; not listening: there is no need for it
	reload       chan os.Signal      // when certificates are to be read again

	metrics      sideServer    // not listening: metrics are on the admin socket alone
	localhost    [2]sideServer // of the demo, on 127.0.0.1 and ::1; not listening: there is none
	endNotifying func()        // nil: the service manager was not notified yet
	pushed       atomic.Uint64
	sweeps       sweeps
	replays      waker
	advancing    sync.Mutex // held while the test clock is moved, and during a reset
	advancedTo   time.Time  // when old records were last dropped by the test clock
}

// Start opens the data file, fills it if there is a seed, and binds the
// listeners. If it fails, it undoes what it started.
func Start(ctx context.Context, s Settings, log zerolog.Logger) (a *App, err error) {
	a = &App{settings: s, data: locate(s.Data), now: time.Now, log: log, reload: make(chan os.Signal, 1), sweeps: sweeps{waker: make(waker, 1)}, replays: make(waker, 1)}
	if s.Clock != nil {
		a.now = s.Clock.Now
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if a.settings.PublicURL, err = origin(s.PublicURL); err != nil {
		return a, SettingError{err}
	}
	if err = a.loadFiles(); err != nil {
		return a, err
	}
	if err = a.bind(); err != nil {
		return a, err
	}
	if err = a.openLocalhost(); err != nil {
		return a, err
	}
	if err = a.openOrFill(ctx); err != nil {
		return a, err
	}
	if err = a.loadCertificates(ctx); err != nil {
		return a, err
	}
	a.warnOfModes()
	a.warnOfClock()
	a.warnOfEventTypes(ctx)
	a.warnOfOperatorOrg(ctx)
	if err = a.openSocket(ctx); err != nil {
		return a, err
	}
	if err = a.wire(); err != nil {
		return a, err
	}
	if err = a.observe(ctx); err != nil {
		return a, err
	}
	return a, Ready{URL: a.URL(), CAFile: a.caFile, TestClock: a.settings.Clock != nil}.Write(a.settings.ReadyFile)
}

// CAFile returns the path of the local CA's certificate, for clients to trust; ""
// without a local CA.
func (a *App) CAFile() string { return a.caFile }

// Store returns the open data.
func (a *App) Store() store.Store { return a.store }

func (a *App) wire() error {
	if a.settings.Clock == nil {
		a.memory = keepMemory(a.settings.MemoryLimit)
	}
	a.wireAdmin()
	config, err := a.serverConfig()
	if err != nil {
		return err
	}
	a.server = server.New(a.store, config)
	return a.wireSending()
}

// Run serves and sends until ctx is done, then stops gracefully.
func (a *App) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	a.running = ctx
	grace, endGrace := context.WithCancel(context.Background())
	defer endGrace()

	served, sent := make(chan error, 2), make(chan error, 1)
	go func() { served <- a.server.Serve(a.listener, a.tls) }()
	go func() { served <- a.socket.serve(a.socket.listener) }()
	a.serveLocalhost()
	go func() { sent <- a.dispatcher.Run(ctx, grace) }()
	var background sync.WaitGroup
	background.Go(func() { a.runJobs(ctx, a.backgroundJobs(grace)...) })

	var failed error
	patience := StopGrace
	select {
	case <-ctx.Done():
		a.log.Info().Msg("stopping")
	case <-a.store.Life().Done():
		patience = time.Second // nothing can be written any more
		failed = context.Cause(a.store.Life())
		a.log.Error().Fields(hint.Fields(failed)).Msg("the data can't be used any more; stopping")
	case failed = <-served: // it ends by itself only when something is wrong
		served <- nil
	case failed = <-sent:
		sent <- nil
	}
	cancel()
	defer time.AfterFunc(patience, endGrace).Stop()
	stopped := make(chan error, 1)
	go func() {
		err := errors.Join(a.server.Shutdown(grace), a.socket.http.Shutdown(grace), <-served, <-served, <-sent)
		background.Wait()
		a.writeKeyUse(grace)
		stopped <- errors.Join(err, a.close())
	}()
	select {
	case err := <-stopped:
		return errors.Join(failed, err)
	case <-time.After(patience + closeTime):
		return errors.Join(failed, hint.New("the data did not answer when the server stopped, which ended without it", "nothing that was acknowledged is lost; check the disk, or the way to the database"))
	}
}

func (a *App) close() error {
	if a.listener != nil {
		a.listener.Close() // again, after the server did: for a start that failed
	}
	a.socket.close()
	a.challenges.close()
	a.localhost[0].close()
	a.localhost[1].close()
	signal.Stop(a.reload)
	if a.endNotifying != nil {
		a.endNotifying()
	}
	a.metrics.close()
	if a.store == nil {
		return nil
	}
	return a.store.Close()
}
