package app

import (
	"context"
	"net/http"
	"time"

	"teamdata/app/metrics"
	"teamdata/delivery"
	"teamdata/internal/system"
	"teamdata/server"
	"teamdata/store"
)

// startMetrics creates the metrics, connects them to all parts, and serves them
// on a separate listener if configured.
func (a *App) startMetrics(h *health, o *server.Observer) (http.Handler, error) {
	var proxy func() (up bool, givenBack uint64)
	if a.settings.EgressProxy != "" {
		proxy = func() (bool, uint64) { return a.dispatcher.ProxyDown() == nil, a.dispatcher.GivenBack() }
	}
	m := metrics.New(
		metrics.Names{Version: a.settings.Version, Routes: a.server.Routes(), Limits: server.Limits, Outcomes: delivery.Outcomes, Expired: store.SweepKinds},
		metrics.Sources{
			Ready:        func() bool { return len(h.failing(context.Background())) == 0 },
			Storage:      a.storage,
			Queue:        a.backlog,
			Nodes:        a.nodes,
			Certificates: a.certificateStatus,
			Backup:       a.newestBackup,
			EgressProxy:  proxy,
			Sweeps:       a.sweeps.state,
		})
	o.Answered, o.Limited = m.Answered, m.Limited
	a.store.OnCommit(func(c store.Commit) { m.Committed(c.Updates, c.Took, c.Err) })
	a.dispatcher.OnAttempt(m.Attempted)
	a.sweeps.dropped = m.Dropped
	return m.Handler(), a.serveMetrics(m.Handler())
}

// serveMetrics serves them to anyone who can reach the listener.
func (a *App) serveMetrics(handler http.Handler) error {
	if a.settings.Metrics == "" {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+MetricsPath, handler)
	if err := a.metrics.open("--metrics", a.settings.Metrics, "choose another address", mux); err != nil {
		return err
	}
	a.metrics.http.WriteTimeout, a.metrics.http.IdleTimeout = 30*time.Second, 2*time.Minute // a scrape takes long, and the next comes in a minute
	go a.serveAside(&a.metrics, "the metrics are no longer served")
	a.log.Info().Str("url", "http://"+a.metrics.listener.Addr().String()+MetricsPath).Msg("serving metrics")
	return nil
}

// storage reads the state of the data file and its disk.
func (a *App) storage() (metrics.Storage, error) {
	st, err := a.store.Stats()
	free, known := system.DiskFree(a.folder())
	return metrics.Storage{Stats: st, DiskFree: free, DiskFreeUnknown: !known}, err
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
		Failing: h.failing, Warnings: h.warnings, AccessLog: server.AccessLog(a.settings.AccessLog), AccessLogSample: a.settings.AccessLogSample,
	}
	metrics, err := a.startMetrics(h, &o)
	if err != nil {
		return err
	}
	a.server.Observe(o)
	a.socket.http.Handler = withHealthAndMetrics(a.socket.http.Handler, a.server.Health(), metrics)
	a.endNotifying = a.notifyManager(ctx, h)
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
