package delivery_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// TestDatabaseClockJumps: nodes stay when the database's clock jumps, and have what they
// had; and one that dies as it jumps back is missed no later than any other.
func TestDatabaseClockJumps(t *testing.T) {
	for name, test := range map[string]func(*handOver, *clockedDatabase, *postgres.Proxy){
		"nodes that run": func(h *handOver, clock *clockedDatabase, _ *postgres.Proxy) {
			const had = "SELECT string_agg(name || node || token, ' ' ORDER BY name) FROM leases WHERE name LIKE 'shard %'"
			before := string(clock.rows(had)[0][0])
			for _, ahead := range []time.Duration{time.Hour + time.Minute, 0, -time.Hour, time.Hour} {
				clock.jump(ahead)
				<-time.After(3 * time.Second)
				h.checkNodes("running running running")
				if string(clock.rows(had)[0][0]) != before {
					h.Errorf("with the clock %v ahead, endpoints have changed hands", ahead)
				}
			}
		},
		"a node that dies": func(h *handOver, clock *clockedDatabase, proxy *postgres.Proxy) {
			proxy.Down()
			h.nodes[0].cut()
			clock.jump(-time.Hour)
			<-time.After(9 * time.Second)
			h.checkNodes("lost running running")
			h.nodes = h.nodes[1:]
			sent := h.send(16)
			<-time.After(time.Second)
			h.check(sent)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := postgres.Shared(t)
			database := server.Database(t)
			postgres.Exec(t, database, simulatedClock)
			proxy := postgres.NewProxy(t, server)
			synctest.Test(t, func(t *testing.T) {
				clock := connectClocked(t, database)
				defer clock.close()
				h := &handOver{T: t, database: proxy.URL(postgres.Name(t, database)) + "&" + simulatedPath, requests: map[string]int{}}
				first := h.start()
				defer first.Close() // which can't say so to the database any more
				defer first.cut()
				h.database = server.TCP(postgres.Name(t, database)) + "?sslmode=disable&" + simulatedPath
				for range 2 {
					n := h.start()
					defer n.stop()
				}
				<-time.After(6 * time.Second) // they have shared the endpoints out
				test(h, clock, proxy)
			})
		})
	}
}

// checkNodes checks the states of the nodes, as the last one sees them.
func (h *handOver) checkNodes(want string) {
	h.Helper()
	nodes, err := h.nodes[len(h.nodes)-1].Nodes(h.Context())
	kit.Must(h, err)
	var states []string
	shards := 0
	for _, n := range nodes {
		states = append(states, n.State)
		if n.State == store.NodeRunning {
			shards += n.Shards
		}
	}
	if got := strings.Join(states, " "); got != want || shards != store.Shards {
		h.Errorf("the nodes are %s, not %s, and have %d shards", got, want, shards)
	}
}
