package kill_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/program"
)

// While 8 clients post to 5 endpoints that fail a fifth of the time, the
// program is killed at random moments and started again: every delivery that
// was accepted arrives and verifies, again only after a kill, no other is there, and
// the data stays sound.
func TestCrashLoop(t *testing.T) { program.OnEngines(t, crashLoop) }

func crashLoop(t *testing.T, data *program.Data) {
	const clients, endpoints = 8, 5
	kills := kit.Size(4, 100)
	random := kit.Random(t)
	r := load.NewReceiver(t, endpoints, random.Uint64())
	flags := append(r.Flags(), "--key-rate", "0", "--client-rate", "0",
		"--retry-schedule", "5ms,5ms,5ms,5ms,5ms,10ms,10ms,10ms,20ms,20ms,20ms,20ms,20ms,20ms,20ms")
	var server atomic.Pointer[program.Process]
	server.Store(data.ServeNew(append(flags, "--seed", r.Seed(t))...))
	running := func(int) *program.Process { return server.Load() }

	posting, stopPosting := context.WithCancel(context.Background())
	var accepted load.Accepted
	var group sync.WaitGroup
	for c := range clients {
		group.Go(func() {
			accepted.Post(posting, t, load.Client{Number: c, Endpoints: endpoints, Server: running, Again: true, Lost: load.Whatever})
		})
	}
	for i := range kills {
		if i%2 == 0 { // some while after the start, maybe before the first commit
			<-time.After(time.Duration(1+random.IntN(80)) * time.Millisecond)
		} else {
			accepted.Flows(server.Load(), 2*clients+random.IntN(100))
		}
		server.Load().Kill()
		r.Kills.Add(1)
		data.IsSound()
		server.Store(data.Serve(flags...))
	}
	stopPosting()
	group.Wait()

	last := server.Load()
	last.Await("the last delivery", func() bool { return r.Missing(&accepted) == 0 })
	last.StopWell()
	data.IsSound()
	r.Report(t, &accepted)
	if n := data.Deliveries(); n != accepted.Count() {
		t.Errorf("%d deliveries were accepted, and %d are there", accepted.Count(), n)
	}
	if data.IsFile() {
		if t.Logf("%d starts had to search for free pages", data.Searches); data.Searches == 0 {
			t.Error("no start had to search for free pages")
		}
	}
}
