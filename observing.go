package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/spf13/pflag"

	"teamdata/server"
)

// observeSettings are the flags of serve for those who look after it.
type observeSettings struct {
	Metrics         string
	AccessLog       string
	AccessLogSample int
}

func (s *observeSettings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.Metrics, "metrics", "", "`host:port` on which GET /metrics is answered for Prometheus, to anyone; default: on the admin socket alone")
	f.StringVar(&s.AccessLog, "access-log", string(server.LogErrors), "which requests are logged: all, errors (those answered 400 or more, without those that a limit refused), off")
	f.IntVar(&s.AccessLogSample, "access-log-sample", 1, "log one in `N` of these requests, and all that are answered 500 or more")
}

func (s *observeSettings) check() error {
	switch server.AccessLog(s.AccessLog) {
	case server.LogAll, server.LogErrors, server.LogOff:
	default:
		return fmt.Errorf("--access-log %q is none of all, errors, off", s.AccessLog)
	}
	if s.AccessLogSample < 1 {
		return errors.New("--access-log-sample is 1 or more")
	}
	if _, _, err := net.SplitHostPort(s.Metrics); s.Metrics != "" && err != nil {
		return fmt.Errorf("--metrics %q is not host:port, such as 127.0.0.1:9464", s.Metrics)
	}
	return nil
}

// metricsPath is where the metrics are, on their own listener and on the admin
// socket.
const metricsPath = "/metrics"

// observe lets those who look after the appliance see how it is, until it is
// closed.
func (a *appliance) observe(ctx context.Context) error {
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
		case metricsPath:
			metrics.ServeHTTP(w, r)
		default:
			admin.ServeHTTP(w, r)
		}
	})
}
