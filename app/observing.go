package app

import (
	"context"
	"net/http"

	"teamdata/server"
)

// MetricsPath is where the metrics are, on their own listener and on the admin
// socket.
const MetricsPath = "/metrics"

// observe lets those who look after the appliance see how it is, until it is
// closed.
func (a *Appliance) observe(ctx context.Context) error {
	h := a.newHealth(ctx)
	o := server.Observer{
		Failing: h.failing, AccessLog: server.AccessLog(a.settings.AccessLog), AccessLogSample: a.settings.AccessLogSample,
	}
	metrics, endMetrics, err := a.measure(h, &o)
	if err != nil {
		return err
	}
	a.server.Observe(o)
	a.socket.http.Handler = beside(a.socket.http.Handler, a.server.Health(), metrics)
	endNotify := a.notifyManager(ctx, h)
	a.endObserving = func() { endNotify(); endMetrics() }
	return nil
}

// beside answers the health checks and the metrics beside the admin API.
func beside(admin, health, metrics http.Handler) http.Handler {
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
