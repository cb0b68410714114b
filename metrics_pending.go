//go:build !metrics

package main

import (
	"errors"
	"net/http"

	"teamdata/server"
)

// measure has nothing to measure with in a build without Prometheus' client.
func (a *appliance) measure(*health, *server.Observer) (metrics http.Handler, end func(), err error) {
	if a.settings.Metrics != "" {
		return nil, nil, errors.New("--metrics: this build has no metrics; build it with -tags metrics")
	}
	return http.NotFoundHandler(), func() {}, nil
}
