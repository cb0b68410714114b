package bench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/internal/httpclient"
)

// benchSession is a run for a benchmark, at the sizes that a machine is measured
// with.
func benchSession(b *testing.B) *session {
	b.Helper()
	c := Default()
	c.Duration = time.Second
	return beginSession(b, c)
}

// BenchmarkMemory is the resident memory of a server, idle, after as many events as
// a round of deliver sends, and at its peak, beside that of a bare handler which
// answered as many requests.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		s := benchSession(b)
		d, err := s.deploy(b.Context(), "memory", deliveryEndpoints, false, 0)
		kit.Must(b, err)
		reportMemory(b, "", d.process, func() {
			_, err := d.turn(b.Context(), s.Events)
			kit.Must(b, err)
		})
		w, err := s.startWorker(b.Context())
		kit.Must(b, err)
		caFile := s.path("memory.handler.ca")
		r, err := w.do(job{Handler: &handlerJob{testAnswerBytes, caFile}})
		kit.Must(b, err)
		roots, err := httpclient.Roots("the CA file", caFile)
		kit.Must(b, err)
		reportMemory(b, "-baseline", w.process, func() {
			c, err := s.connect(b.Context(), target{r.Address, roots}, connections)
			kit.Must(b, err)
			var begun atomic.Int64
			_, _, err = c.closedLoop(b.Context(), time.Hour, func() bool { return begun.Add(1) <= int64(s.Events) }, func(int) string { return newOrg(0, 0).test(0) })
			kit.Must(b, err)
		})
		s.cleanUp()
	}
	b.ReportMetric(0, "ns/op")
}

func reportMemory(b *testing.B, suffix string, p *process, load func()) {
	b.Helper()
	idle, _ := residentMemory(b, p)
	load()
	loaded, peak := residentMemory(b, p)
	b.ReportMetric(idle, "idle"+suffix+"-MiB")
	b.ReportMetric(loaded, "loaded"+suffix+"-MiB")
	b.ReportMetric(peak, "peak"+suffix+"-MiB")
}

// residentMemory is that of a process in MiB, now and at its peak; 0 where the
// system is not Linux.
func residentMemory(b *testing.B, p *process) (now, peak float64) {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if runtime.GOOS != "linux" {
		return 0, 0
	}
	kit.Must(b, err)
	for name, mib := range map[string]*float64{"VmRSS:": &now, "VmHWM:": &peak} {
		_, line, _ := strings.Cut(string(status), name)
		_, err := fmt.Sscan(line, mib)
		kit.Must(b, err)
		*mib /= 1024
	}
	return now, peak
}
