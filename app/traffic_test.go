package app_test

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
)

// traffic is clients that post tests to the endpoints of a receiver, while something
// happens to the database. Half of them post again until they are accepted, the others
// give up, so that what they were refused must not be there.
type traffic struct {
	*testing.T
	data     *place
	server   *program.Process
	receiver *flakyReceiver
	accepted acceptedIDs
	stop     context.CancelFunc
	clients  sync.WaitGroup
}

// What a server of traffic has: receivers, and the flags for them.
const trafficEndpoints = 5

func trafficFlags(r *flakyReceiver, seed string) []string {
	return append(r.flags(), "--key-rate", "0", "--client-rate", "0", "--seed", seed,
		"--retry-schedule", "50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms")
}

// newTraffic starts a server on data that is new, and clients.
func newTraffic(t *testing.T, data *place) *traffic {
	t.Helper()
	c := &traffic{T: t, data: data, receiver: newFlakyReceiver(t, trafficEndpoints, kit.Random(t).Uint64())}
	c.server = data.serve(trafficFlags(c.receiver, c.receiver.seed(t))...)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	t.Cleanup(func() { stop(); c.clients.Wait() })
	var server atomic.Pointer[program.Process]
	server.Store(c.server)
	for n := range 16 {
		c.clients.Go(func() { c.accepted.post(ctx, t, &server, n, trafficEndpoints, n%2 == 0) })
	}
	return c
}

// flows waits until so many more were accepted.
func (c *traffic) flows(n int) {
	c.Helper()
	more := c.accepted.count() + n
	c.server.Await("the next deliveries", func() bool { return c.accepted.count() >= more })
}

// refused waits until so many more were answered 503.
func (c *traffic) refused(n int) {
	c.Helper()
	more := c.accepted.refusals() + n
	c.server.Await("the next 503", func() bool { return c.accepted.refusals() >= more })
}

// end stops the clients, and holds what is there to what they were told, and each
// delivery's attempts to what its receiver got: none is used up, none is made again.
func (c *traffic) end() {
	c.Helper()
	c.stop()
	c.clients.Wait()
	c.server.Await("the last delivery", func() bool { return c.receiver.missing(&c.accepted) == 0 })
	c.receiver.report(c.T, &c.accepted)
	attempts := map[string]int{}
	c.server.Await("the last outcome", func() bool {
		waiting := 0
		clear(attempts)
		var list []struct {
			ID, State string
			Attempts  int
		}
		if err := json.Unmarshal([]byte(c.data.run("delivery", "list", "--limit", "0", "--json")), &list); err != nil {
			c.Fatal(err)
		}
		for _, d := range list {
			attempts[d.ID] = d.Attempts
			if d.State != "acknowledged" {
				waiting++
			}
		}
		return waiting == 0
	})
	there := len(attempts)
	if there != c.accepted.count() {
		c.Errorf("%d deliveries were accepted, and %d are there", c.accepted.count(), there)
	}
	for id, n := range c.receiver.requests() {
		if attempts[id] != n {
			c.Errorf("%s was sent %d times, and %d attempts were counted", id, n, attempts[id])
		}
	}
	c.Logf("%d posts were accepted, %d were answered 503; the longest answer took %v", there, c.accepted.refusals(), c.accepted.longest.Round(time.Millisecond))
	if err := c.server.Stop(); err != nil {
		c.Errorf("it ended with %v\n%s", err, c.server.Out)
	}
}
