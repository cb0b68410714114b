package nodes_test

import (
	"net/http"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
)

// Each node's metrics have all nodes, with those that were killed, and while the
// database is away none.
func TestMetricsOfNodes(t *testing.T) {
	kit.NotEveryDay(t)
	t.Parallel()
	pg := postgres.Start(t)
	database := pg.Database(t)
	serve := func(name string) *program.Process {
		return program.InDatabase(t, database).Serve("--node", name, "--metrics", "127.0.0.1:0", "--http")
	}
	one := serve("one")
	url := one.MetricsURL()
	has := func(what string, want map[string]float64) {
		t.Helper()
		one.Await(what, func() bool {
			got := program.Scraped(t, http.DefaultClient, url)
			for name, value := range want {
				if there, ok := got[name]; !ok || there != value {
					return false
				}
			}
			return true
		})
	}
	has("a node alone", map[string]float64{"teamdata_node_shards node=one": 64, "teamdata_node_shards_unowned": 0})
	two := serve("two")
	has("two nodes", map[string]float64{
		"teamdata_node_state node=one state=running": 1, "teamdata_node_state node=two state=running": 1, "teamdata_node_shards_unowned": 0,
	})
	two.Kill()
	has("a node that is lost", map[string]float64{
		"teamdata_node_state node=two state=running": 0, "teamdata_node_state node=two state=lost": 1,
		"teamdata_node_shards node=one": 64, "teamdata_node_shards node=two": 0, "teamdata_node_shards_unowned": 0,
	})
	if got := program.Scraped(t, http.DefaultClient, url)["teamdata_node_seen_seconds node=two"]; got < 6 || got > 60 {
		t.Errorf("the lost node was seen %g s ago", got)
	}
	pg.Stop(t, "immediate")
	one.Await("metrics without the database", func() bool {
		got := program.Scraped(t, http.DefaultClient, url)
		_, there := got["teamdata_node_shards_unowned"]
		return got["teamdata_database_up"] == 0 && !there
	})
}
