package nodes_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/program"
)

// While 8 writers add members and audit log entries through three servers, pollers that
// ask another server for each next page see each item once, in order.
func TestPollersChangeNodes(t *testing.T) {
	t.Parallel()
	const writers, perRequest = 8, 25
	requests := kit.Size(8, 500) // of each writer, for each list
	c := newServers(t, 3, "--key-rate", "0")
	writing, done := context.WithCancel(context.Background())
	var group, polls sync.WaitGroup
	for w := range writers {
		group.Go(func() {
			for i := range requests {
				c.add(w+i, w, i*perRequest, perRequest)
			}
		})
	}
	for n := range 2 {
		for _, list := range []string{"/members", "/audit-log"} {
			polls.Go(func() { load.Poll(t, c.from(n), list, writing, writers, requests*perRequest) })
		}
	}
	group.Wait()
	done()
	polls.Wait()
}

// from is the servers, the next one first.
func (c *servers) from(n int) []*program.Process {
	n %= len(c.servers)
	return append(c.servers[n:len(c.servers):len(c.servers)], c.servers[:n]...)
}

// add adds some members and entries of a writer through one server.
func (c *servers) add(server, writer, from, n int) {
	var members, entries []string
	for i := from; i < from+n; i++ {
		members = append(members, fmt.Sprintf(`{"userId":"w%d_%d","role":"member"}`, writer, i))
		entries = append(entries, fmt.Sprintf(`{"action":"w%d_%d"}`, writer, i))
	}
	for list, body := range map[string]string{
		"/members":   `{"members":[` + strings.Join(members, ",") + `]}`,
		"/audit-log": `{"entries":[` + strings.Join(entries, ",") + `]}`,
	} {
		status, text, err := c.operators[server%len(c.operators)].Do("POST", "/orgs/org_acme"+list+"/batch", body)
		if err != nil || status/100 != 2 {
			c.Errorf("writer %d is answered %d %s (%v)", writer, status, text, err)
		}
	}
}
