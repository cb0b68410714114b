package teamdatatest_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"teamdata/teamdatatest"
)

// BenchmarkServer measures a server from its start to the answer to the first request,
// and its stop, at the median.
func BenchmarkServer(b *testing.B) {
	var starts, stops []time.Duration
	for b.Loop() {
		f := &failing{TB: b}
		begun := time.Now()
		srv := teamdatatest.Start(f, acme())
		answer, err := srv.Client(srv.Key("org_acme")).Get(srv.URL + "/api/v1/members")
		if err != nil || answer.StatusCode != http.StatusOK {
			b.Fatal(err, f.errors)
		}
		starts = append(starts, time.Since(begun))
		answer.Body.Close()
		begun = time.Now()
		if errors := f.run(func() {}); len(errors) > 0 {
			b.Fatal(errors)
		}
		stops = append(stops, time.Since(begun))
	}
	report := func(what string, took []time.Duration) {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, what)
	}
	report("start-ms", starts)
	report("stop-ms", stops)
}

// BenchmarkOutage measures the whole story of a receiver that is down, 14 hours long.
func BenchmarkOutage(b *testing.B) {
	for b.Loop() {
		f := &failing{TB: b}
		if errors := f.run(func() { outage(f) }); len(errors) > 0 {
			b.Fatal(errors)
		}
	}
}
