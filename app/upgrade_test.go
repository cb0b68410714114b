package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// Migrations of later versions: the first expands the tables, the second contracts them
// when all have the first.
const (
	expandStep   = "-- may read: 1, may write: 1\nALTER TABLE orgs ADD COLUMN later bigint NOT NULL DEFAULT 7;\nCREATE TABLE later (n bigint);\n"
	contractStep = "-- may read: 2, may write: 2\nDROP TABLE later;\n"
)

// The versions that the tests build.
const (
	expandVersion   = "v99.1.0"
	contractVersion = "v99.2.0"
)

func buildExpanding(t *testing.T) string {
	return program.Build(t, expandVersion, map[string]string{"store/pgstore/migrations/0002.sql": expandStep})
}

func buildContracting(t *testing.T) string {
	return program.Build(t, contractVersion, map[string]string{
		"store/pgstore/migrations/0002.sql": expandStep, "store/pgstore/migrations/0003.sql": contractStep,
	})
}

// upgradeNode is one of the nodes of an upgrade.
type upgradeNode struct {
	*place
	name   string
	binary string
	server atomic.Pointer[program.Process]
}

// upgrade is three nodes on one database, and clients that post by all of them.
type upgrade struct {
	*testing.T
	receiver *flakyReceiver
	seed     string
	nodes    [3]*upgradeNode
	accepted acceptedIDs
}

func newUpgrade(t *testing.T) *upgrade {
	u := &upgrade{T: t, receiver: newFlakyReceiver(t, trafficEndpoints, kit.Random(t).Uint64())}
	u.seed = u.receiver.seed(t)
	database := postgres.New(t)
	for i := range u.nodes {
		u.nodes[i] = &upgradeNode{place: inDatabase(t, database), name: string(rune('a' + i))}
		u.start(u.nodes[i], program.Binary(t))
	}
	return u
}

// start starts a node of a version.
func (u *upgrade) start(n *upgradeNode, binary string) {
	u.Helper()
	n.binary = binary
	flags := slices.Concat(n.beside, trafficFlags(u.receiver, u.seed), []string{"--node", n.name})
	n.server.Store(program.ServeBy(u, binary, n.data, flags...))
}

// replace stops a node, and starts it in another version.
func (u *upgrade) replace(n *upgradeNode, binary string) {
	u.Helper()
	p := n.server.Load()
	u.receiver.kills.Add(1) // what was in flight may be sent again
	if err := p.Stop(); err != nil {
		u.Errorf("%s ended with %v\n%s", n.name, err, p.Out)
	}
	u.start(n, binary)
	awaitReady(n.server.Load(), http.StatusOK, "")
}

// post posts by one node after the other, each key until it is accepted. A node that is
// down is passed over, as by a proxy.
func (u *upgrade) post(ctx context.Context, client int) {
	for i := 0; ctx.Err() == nil; i++ {
		path := fmt.Sprintf("/webhooks/whe_%d/test", (client+i)%trafficEndpoints)
		for try, done := i, false; !done && u.Context().Err() == nil; try++ {
			began := time.Now()
			got, err := u.nodes[try%len(u.nodes)].server.Load().Do("POST", path, program.WriteKey, "Idempotency-Key", fmt.Sprintf("%d-%d", client, i))
			var body struct{ ID string }
			switch {
			case refused(err):
			case err != nil:
				u.Errorf("a request was not answered: %v", err)
				return
			case got.Status == http.StatusOK && json.Unmarshal([]byte(got.Body), &body) == nil:
				u.accepted.add(u.T, body.ID, time.Since(began))
				done = true
			case got.Status == http.StatusServiceUnavailable && got.Header.Get("Retry-After") != "":
				u.accepted.add(u.T, "", time.Since(began))
			default:
				u.Errorf("answered %d %v %s", got.Status, got.Header, got.Body)
				return
			}
			<-time.After(5 * time.Millisecond)
		}
	}
}

// versions are those of the running nodes, by name, as a node lists them.
func (u *upgrade) versions(by *upgradeNode) string {
	u.Helper()
	var list []struct{ Name, State, Version string }
	out, err := program.RunBy(u, by.binary, by.command("node", "list", "--json")...)
	if err == nil {
		err = json.Unmarshal([]byte(out), &list)
	}
	if err != nil {
		u.Fatalf("%v\n%s", err, out)
	}
	var all []string
	for _, n := range list {
		version := "old"
		if n.Version == expandVersion || n.Version == contractVersion {
			version = n.Version
		}
		all = append(all, n.Name+" "+version)
		if n.State != "running" {
			u.Errorf("%s is %s", n.Name, n.State)
		}
	}
	return strings.Join(all, ", ")
}

// TestRollingUpgrade: three nodes are replaced by those of a version with another
// schema, one after the other, and back, under load: nothing is lost, and no request
// fails but by a 503 that says when to try again. A version that the others could not
// work beside is refused, and says who is in the way.
func TestRollingUpgrade(t *testing.T) {
	kit.OnlyAtSize(t)
	t.Parallel()
	const rounds = 10
	next := buildExpanding(t)
	u := newUpgrade(t)
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer func() { stop(); clients.Wait() }()
	for client := range 16 {
		clients.Go(func() { u.post(ctx, client) })
	}
	flows := func() {
		more := u.accepted.count() + 100
		u.nodes[0].server.Load().Await("the next deliveries", func() bool { return u.accepted.count() >= more })
	}
	flows()
	for round := range rounds {
		for i, n := range u.nodes {
			u.replace(n, next)
			flows()
			if i == 0 {
				if got := u.versions(u.nodes[1]); got != "a "+expandVersion+", b old, c old" {
					t.Errorf("the nodes are %s", got)
				}
			}
		}
		if round < rounds-1 {
			for _, n := range u.nodes {
				u.replace(n, program.Binary(t))
				flows()
			}
		}
	}
	stop()
	clients.Wait()
	last := u.nodes[0].server.Load()
	last.Await("the last delivery", func() bool { return u.receiver.missing(&u.accepted) == 0 })
	u.receiver.report(t, &u.accepted)
	if n := u.nodes[0].deliveries(); n != u.accepted.count() {
		t.Errorf("%d deliveries were accepted, and %d are there", u.accepted.count(), n)
	}
	t.Logf("%d posts were answered 503; the longest answer took %v", u.accepted.refusals(), u.accepted.longest.Round(time.Millisecond))
	if got := u.versions(u.nodes[0]); got != fmt.Sprintf("a %[1]s, b %[1]s, c %[1]s", expandVersion) {
		t.Errorf("the nodes are %s", got)
	}
	u.contract()
}

// contract ends the upgrade with the version that drops what is old.
func (u *upgrade) contract() {
	u.Helper()
	last := buildContracting(u.T)
	a := u.nodes[0]
	u.replace(a, program.Binary(u))
	refused := func(binary string, wants ...string) {
		u.Helper()
		args := append([]string{"serve", "--data", a.data, "--listen", "127.0.0.1:0", "--node", "d", "--state-dir", u.TempDir()}, u.receiver.flags()...)
		out, err := program.RunBy(u, binary, args...)
		for _, want := range wants {
			if err == nil || !strings.Contains(out, want) {
				u.Errorf("%v: it does not say %q:\n%s", err, want, out)
			}
		}
	}
	refused(last, "what can't write schema 3", "the node a (teamdata ", "upgrade those first")
	if status, _ := health(a.server.Load(), server.ReadyPath); status != http.StatusOK {
		u.Errorf("after it the node is not ready: %d", status)
	}
	if err := a.server.Load().Stop(); err != nil {
		u.Error(err)
	}
	for _, n := range u.nodes[1:] {
		u.replace(n, last)
	}
	refused(program.Binary(u), "has schema 3, which a newer teamdata wrote", "run the newer one")
	u.start(a, last)
	if got := u.versions(a); got != fmt.Sprintf("a %[1]s, b %[1]s, c %[1]s", contractVersion) {
		u.Errorf("the nodes are %s", got)
	}
}
