package bench

import (
	"flag"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

var (
	hangingEndpoints = flag.Int("endpoints", 200, "how many endpoints there are in BenchmarkHanging, of which nine of ten hang")
	hangingTimeout   = flag.Duration("attempt-timeout", 5*time.Second, "how long an attempt in BenchmarkHanging may take, which lasts three times that")
)

const (
	healthyEvery = 5 * time.Millisecond // between two events to healthy endpoints
	hangsEach    = 3                    // events to each endpoint that hangs: one before, during and after the measurement
)

// BenchmarkHanging sends to healthy endpoints, first while nothing else happens,
// then while all the others hang until the attempt times out, one attempt after
// the other: how long a webhook takes to a healthy endpoint, and what is resident.
// More than the usual:
//
//	go test ./cli/bench -run '^$' -bench Hanging -args -endpoints 1000
func BenchmarkHanging(b *testing.B) {
	for b.Loop() {
		s := benchSession(b)
		h := s.deployHanging(b)
		h.measure(b, "-none-hanging")
		h.fill(b)
		b.ReportMetric(float64(h.receiver.hanging.Load()), "hanging-at-begin")
		h.measure(b, "")
		b.ReportMetric(float64(h.receiver.hanging.Load()), "hanging-at-end")
		s.cleanUp()
	}
	b.ReportMetric(0, "ns/op")
}

// hangingDeployment is one with endpoints of which few are healthy.
type hangingDeployment struct {
	deployment
	healthy, hanging []string // requests that send to such an endpoint
}

func (s *session) deployHanging(b *testing.B) *hangingDeployment {
	b.Helper()
	r, err := s.newReceiver(b.Context(), "hanging.ca")
	kit.Must(b, err)
	h := &hangingDeployment{deployment: deployment{session: s, receiver: r}}
	orgs := h.newOrgs(b, *hangingEndpoints)
	kit.Must(b, writeSeed(s.path("hanging.json"), orgs...))
	h.server, err = s.serve(b.Context(), s.path("hanging.db"), r.caFile, "--seed", s.path("hanging.json"), "--attempt-timeout", hangingTimeout.String())
	kit.Must(b, err)
	kit.Must(b, h.connect(b.Context()))
	_, err = h.openLoop(b.Context(), len(h.healthy), healthyEvery, h.toHealthy) // connections are made
	kit.Must(b, err)
	return h
}

// newOrgs spreads endpoints over as many orgs as it takes. Every tenth is healthy,
// and has an address of its own.
func (h *hangingDeployment) newOrgs(b *testing.B, endpoints int) (orgs []*org) {
	b.Helper()
	silent, err := h.receiver.listen(1, true)
	kit.Must(b, err)
	healthy, err := h.receiver.listen((endpoints+9)/10, false)
	kit.Must(b, err)
	for i := range endpoints {
		if i%store.MaxEndpoints == 0 {
			orgs = append(orgs, newOrg(len(orgs), 0))
		}
		o := orgs[len(orgs)-1]
		if i%10 == 0 {
			o.urls = append(o.urls, healthy[i/10])
			h.healthy = append(h.healthy, o.test(len(o.urls)-1))
		} else {
			o.urls = append(o.urls, silent...)
			h.hanging = append(h.hanging, o.test(len(o.urls)-1))
		}
	}
	return orgs
}

func (h *hangingDeployment) toHealthy(k int) string { return h.healthy[k%len(h.healthy)] }

// fill sends to those that hang, evenly over as long as an attempt may take, so
// that afterwards attempts end and begin evenly too.
func (h *hangingDeployment) fill(b *testing.B) {
	b.Helper()
	n := hangsEach * len(h.hanging)
	_, err := h.sendEvenly(b.Context(), n, *hangingTimeout/time.Duration(n), func(k int) string { return h.hanging[k/hangsEach] })
	kit.Must(b, err)
}

// measure sends to the healthy endpoints for as long as an attempt may take: each
// of those that hang ends one attempt in that time, and begins another.
func (h *hangingDeployment) measure(b *testing.B, suffix string) {
	b.Helper()
	n := max(1, int(*hangingTimeout/healthyEvery))
	d, err := h.openLoop(b.Context(), n, healthyEvery, h.toHealthy)
	kit.Must(b, err)
	b.ReportMetric(millis(percentile(d.fromAnswer, 99)), "answer-p99"+suffix+"-ms")
	b.ReportMetric(millis(percentile(d.fromRequest, 99)), "request-p99"+suffix+"-ms")
	now, _ := residentMemory(b, h.process)
	b.ReportMetric(now, "resident"+suffix+"-MiB")
}
