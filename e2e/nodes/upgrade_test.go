package nodes_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/load"
	"teamdata/e2e/kit/postgres"
	"teamdata/e2e/kit/program"
	"teamdata/server"
)

// Migrations of later versions: the first expands the tables, the second contracts them
// when all have the first.
const (
	expandStep   = "-- may read: 1, may write: 1\nALTER TABLE orgs ADD COLUMN later bigint NOT NULL DEFAULT 7;\nCREATE TABLE later (n bigint);\n"
	contractStep = "-- may read: %[1]d, may write: %[1]d\nDROP TABLE later;\n"
)

// The versions that the tests build.
const (
	expandVersion   = "v99.1.0"
	contractVersion = "v99.2.0"
)

// own is the number of the program's last migration.
func own(t *testing.T) (number int) {
	names, err := filepath.Glob(migrations + "[0-9]*.sql")
	kit.Must(t, err)
	_, err = fmt.Sscanf(names[len(names)-1], migrations+"%d.sql", &number)
	kit.Must(t, err)
	return number
}

const migrations = "store/pgstore/migrations/"

func migration(number int) string { return fmt.Sprintf(migrations+"%04d.sql", number) }

func buildExpanding(t *testing.T) string {
	return program.Build(t, expandVersion, map[string]string{migration(own(t) + 1): expandStep})
}

func buildContracting(t *testing.T) string {
	return program.Build(t, contractVersion, map[string]string{
		migration(own(t) + 1): expandStep, migration(own(t) + 2): fmt.Sprintf(contractStep, own(t)+1),
	})
}

// upgradeNode is one of the nodes of an upgrade.
type upgradeNode struct {
	*program.Data
	name   string
	binary string
	server atomic.Pointer[program.Process]
}

// upgrade is three nodes on one database, and clients that post by all of them.
type upgrade struct {
	*testing.T
	receiver *load.Receiver
	seed     string
	nodes    [3]*upgradeNode
	accepted load.Accepted
}

func newUpgrade(t *testing.T) *upgrade {
	u := &upgrade{T: t, receiver: load.NewReceiver(t, load.Endpoints, kit.Random(t).Uint64())}
	u.seed = u.receiver.Seed(t)
	database := postgres.New(t)
	for i := range u.nodes {
		u.nodes[i] = &upgradeNode{Data: program.InDatabase(t, database), name: string(rune('a' + i))}
		u.start(u.nodes[i], program.Binary(t))
	}
	return u
}

// start starts a node of a version.
func (u *upgrade) start(n *upgradeNode, binary string) {
	u.Helper()
	n.binary = binary
	flags := slices.Concat(n.Beside, load.ServerFlags(u.receiver, u.seed), []string{"--node", n.name})
	n.server.Store(program.ServeBy(u, binary, n.At, flags...))
}

// replace stops a node, and starts it in another version.
func (u *upgrade) replace(n *upgradeNode, binary string) {
	u.Helper()
	p := n.server.Load()
	u.receiver.Kills.Add(1) // what was in flight may be sent again
	p.StopWell()
	u.start(n, binary)
	n.server.Load().AwaitHealth(http.StatusOK, "")
}

// versions are those of the running nodes, by name, as a node lists them.
func (u *upgrade) versions(by *upgradeNode) string {
	u.Helper()
	var list []struct{ Name, State, Version string }
	out, err := program.RunBy(u, by.binary, by.Command("node", "list", "--json")...)
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
	rounds := kit.Size(2, 10)
	next := buildExpanding(t)
	u := newUpgrade(t)
	ctx, stop := context.WithCancel(context.Background())
	var clients sync.WaitGroup
	defer func() { stop(); clients.Wait() }()
	turns := func(try int) *program.Process { return u.nodes[try%len(u.nodes)].server.Load() }
	for n := range 16 {
		// A node that is down is passed over, as by a proxy.
		client := load.Client{Number: n, Endpoints: load.Endpoints, Server: turns, Again: true, Lost: kit.Refused}
		clients.Go(func() { u.accepted.Post(ctx, t, client) })
	}
	flows := func() { u.accepted.Flows(u.nodes[0].server.Load(), 100) }
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
	last.Await("the last delivery", func() bool { return u.receiver.Missing(&u.accepted) == 0 })
	u.receiver.Report(t, &u.accepted)
	if n := u.nodes[0].Deliveries(); n != u.accepted.Count() {
		t.Errorf("%d deliveries were accepted, and %d are there", u.accepted.Count(), n)
	}
	t.Logf("%d posts were answered 503; the longest answer took %v", u.accepted.Refusals(), u.accepted.Longest.Round(time.Millisecond))
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
		args := append([]string{"serve", "--data", a.At, "--listen", "127.0.0.1:0", "--node", "d", "--state-dir", u.TempDir()}, u.receiver.Flags()...)
		out, err := program.RunBy(u, binary, args...)
		for _, want := range wants {
			if err == nil || !strings.Contains(out, want) {
				u.Errorf("%v: it does not say %q:\n%s", err, want, out)
			}
		}
	}
	refused(last, fmt.Sprintf("what can't write schema %d", own(u.T)+2), "the node a (teamdata ", "upgrade those first")
	if status, _ := a.server.Load().Health(server.ReadyPath); status != http.StatusOK {
		u.Errorf("after it the node is not ready: %d", status)
	}
	a.server.Load().StopWell()
	for _, n := range u.nodes[1:] {
		u.replace(n, last)
	}
	refused(program.Binary(u), fmt.Sprintf("has schema %d, which a newer teamdata wrote", own(u.T)+2), "run the newer one")
	u.start(a, last)
	if got := u.versions(a); got != fmt.Sprintf("a %[1]s, b %[1]s, c %[1]s", contractVersion) {
		u.Errorf("the nodes are %s", got)
	}
}
