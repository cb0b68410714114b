package database_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/program"
)

// traffic is clients that post tests to the endpoints of a receiver, while something
// happens to the database. Half of them post again until they are accepted, the others
// give up, so that what they were refused must not be there.
type traffic struct {
	*testing.T
	data     *program.Data
	server   *program.Process
	receiver *load.Receiver
	accepted load.Accepted
	stop     context.CancelFunc
	clients  sync.WaitGroup
}

// newTraffic starts a server on data that is new, and clients.
func newTraffic(t *testing.T, data *program.Data) *traffic {
	t.Helper()
	c := &traffic{T: t, data: data, receiver: load.NewReceiver(t, load.Endpoints, kit.Random(t).Uint64())}
	c.server = data.Serve(load.ServerFlags(c.receiver, c.receiver.Seed(t))...)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	t.Cleanup(func() { stop(); c.clients.Wait() })
	for n := range 16 {
		client := load.Client{Number: n, Endpoints: load.Endpoints, Server: func(int) *program.Process { return c.server }}
		if n%2 == 0 {
			client.Again, client.Lost = true, load.Whatever
		}
		c.clients.Go(func() { c.accepted.Post(ctx, t, client) })
	}
	return c
}

// flows waits until so many more were accepted.
func (c *traffic) flows(n int) {
	c.Helper()
	c.accepted.Flows(c.server, n)
}

// refused waits until so many more were answered 503.
func (c *traffic) refused(n int) {
	c.Helper()
	more := c.accepted.Refusals() + n
	c.server.Await("the next 503", func() bool { return c.accepted.Refusals() >= more })
}

// end stops the clients, and holds what is there to what they were told, and each
// delivery's attempts to what its receiver got: none is used up, none is made again.
func (c *traffic) end() {
	c.Helper()
	c.stop()
	c.clients.Wait()
	c.server.Await("the last delivery", func() bool { return c.receiver.Missing(&c.accepted) == 0 })
	c.receiver.Report(c.T, &c.accepted)
	attempts := map[string]int{}
	c.server.Await("the last outcome", func() bool {
		waiting := 0
		clear(attempts)
		var list []struct {
			ID, State string
			Attempts  int
		}
		kit.Must(c, json.Unmarshal([]byte(c.data.MustRun("delivery", "list", "--limit", "0", "--json")), &list))
		for _, d := range list {
			attempts[d.ID] = d.Attempts
			if d.State != "acknowledged" {
				waiting++
			}
		}
		return waiting == 0
	})
	there := len(attempts)
	if there != c.accepted.Count() {
		c.Errorf("%d deliveries were accepted, and %d are there", c.accepted.Count(), there)
	}
	for id, n := range c.receiver.Requests() {
		if attempts[id] != n {
			c.Errorf("%s was sent %d times, and %d attempts were counted", id, n, attempts[id])
		}
	}
	c.Logf("%d posts were accepted, %d were answered 503; the longest answer took %v", there, c.accepted.Refusals(), c.accepted.Longest.Round(time.Millisecond))
	c.server.StopWell()
}
