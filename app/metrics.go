package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"teamdata/app/metrics"
	"teamdata/delivery"
	"teamdata/internal/hint"
	"teamdata/internal/system"
	"teamdata/server"
	"teamdata/store"
)

// startMetrics creates the metrics, connects them to all parts, and serves them
// on a separate listener if configured, until end is called.
func (a *App) startMetrics(h *health, o *server.Observer) (handler http.Handler, end func(), err error) {
	m := metrics.New(
		metrics.Names{Version: a.settings.Version, Routes: a.server.Routes(), Limits: server.Limits, Outcomes: delivery.Outcomes, Expired: store.SweepKinds},
		metrics.Sources{
			Ready:        func() bool { return len(h.failing(context.Background())) == 0 },
			Storage:      a.storage,
			Queue:        a.backlog,
			Nodes:        a.nodes,
			Certificates: a.certificateStatus,
			Backup:       a.newestBackup,
			Sweeps:       a.sweeps.state,
		})
	o.Answered, o.Limited = m.Answered, m.Limited
	a.store.OnCommit(func(c store.Commit) { m.Committed(c.Updates, c.Took, c.Err) })
	a.dispatcher.OnAttempt(m.Attempted)
	a.sweeps.dropped = m.Dropped
	end, err = a.serveMetrics(m.Handler())
	return m.Handler(), end, err
}

// serveMetrics serves them to anyone who can reach the listener.
func (a *App) serveMetrics(handler http.Handler) (end func(), err error) {
	if a.settings.Metrics == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", a.settings.Metrics)
	if err != nil {
		return nil, hint.With(fmt.Errorf("--metrics: can't listen on %s: %w", a.settings.Metrics, err), "choose another address")
	}
	a.metrics = l
	mux := http.NewServeMux()
	mux.Handle("GET "+MetricsPath, handler)
	s := &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10,
		ErrorLog:       log.New(io.Discard, "", 0),
	}
	go func() {
		if err := s.Serve(a.server.Limit(l)); !errors.Is(err, http.ErrServerClosed) {
			a.log.Error().Err(err).Msg("the metrics are served no more")
		}
	}()
	a.log.Info().Str("url", "http://"+l.Addr().String()+MetricsPath).Msg("serving metrics")
	return func() { s.Close() }, nil
}

// storage reads the state of the data file and its disk.
func (a *App) storage() (metrics.Storage, error) {
	st, err := a.store.Stats()
	free, known := system.DiskFree(a.folder())
	return metrics.Storage{
		Reads: st.Reads, OldestRead: st.OldestRead, Size: st.Size, Free: st.Free,
		DiskFree: free, DiskFreeUnknown: !known, Database: st.Database,
	}, err
}

func (a *App) backlog() (b store.Backlog, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = a.store.View(ctx, func(tx store.Tx) (err error) {
		b, err = tx.Backlog(ctx)
		return err
	})
	return b, err
}

// nodesTime is how long the database may take to list its nodes for a scrape.
const nodesTime = 2 * time.Second

func (a *App) nodes() (nodes metrics.Nodes, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), nodesTime)
	defer cancel()
	nodes.List, err = a.store.Nodes(ctx)
	nodes.Now = a.store.Now()
	return nodes, err
}

// newestBackup returns when the last backup of --backup-dir was made, according
// to its name.
func (a *App) newestBackup() (newest time.Time, ok bool) {
	if a.settings.BackupDir == "" {
		return newest, false
	}
	_, newest, _ = NewestBackup(a.settings.BackupDir, time.Now())
	return newest, true
}

// MetricsPath is the path of the metrics, on their own listener and on the admin
// socket.
const MetricsPath = "/metrics"

// observe makes the server's state visible to operators and service managers
// until it is closed.
func (a *App) observe(ctx context.Context) error {
	h := a.newHealth(ctx)
	o := server.Observer{
		Failing: h.failing, AccessLog: server.AccessLog(a.settings.AccessLog), AccessLogSample: a.settings.AccessLogSample,
	}
	metrics, endMetrics, err := a.startMetrics(h, &o)
	if err != nil {
		return err
	}
	a.server.Observe(o)
	a.socket.http.Handler = withHealthAndMetrics(a.socket.http.Handler, a.server.Health(), metrics)
	endNotify := a.notifyManager(ctx, h)
	a.endObserving = func() { endNotify(); endMetrics() }
	return nil
}

// withHealthAndMetrics serves the health checks and the metrics next to the admin API.
func withHealthAndMetrics(admin, health, metrics http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case server.LivePath, server.ReadyPath:
			health.ServeHTTP(w, r)
		case MetricsPath:
			metrics.ServeHTTP(w, r)
		default:
			admin.ServeHTTP(w, r)
		}
	})
}
