package doctor

import (
	"testing"
	"time"

	"teamdata/app"
	"teamdata/store"
)

// 13 connections for each node, and 3 to spare, are enough. A server that is to start is
// one more, unless it takes the place of a node.
func TestConnectionsOfNodes(t *testing.T) {
	three := []store.Node{{Name: "a", State: store.NodeRunning}, {Name: "b", State: store.NodeRunning}, {Name: "c", State: store.NodeRunning}, {Name: "d", State: store.NodeLost}}
	for _, test := range []struct {
		nodes  []store.Node
		served bool
		name   string
		max    int
		want   string
	}{
		{nil, false, "", 16, OK}, {nil, false, "", 15, Problem},
		{three, true, "", 42, OK}, {three, true, "", 41, Problem},
		{three, false, "", 55, OK}, {three, false, "", 54, Problem},
		{three, false, "c", 42, OK}, {three, false, "c", 41, Problem}, {three, false, "d", 54, Problem},
	} {
		d := doctor{served: test.served}
		d.Node = test.name
		d.checkConnections(app.Inspection{Nodes: test.nodes, MaxConnections: test.max})
		d.found(t, test, test.want)
	}
}

// A node may be 2 s off, and is not ready from 30 s on; versions are the same; none is
// lost, and none has the name of the server that is to start.
func TestNodes(t *testing.T) {
	running := func(name, version string, off time.Duration) store.Node {
		return store.Node{Name: name, Version: version, State: store.NodeRunning, ClockOffset: off}
	}
	for _, test := range []struct {
		nodes []store.Node
		name  string
		want  string
	}{
		{nil, "a", OK},
		{[]store.Node{running("a", "1", 2*time.Second), running("b", "1", -2*time.Second)}, "", OK},
		{[]store.Node{running("a", "1", -2001*time.Millisecond)}, "", Warning},
		{[]store.Node{running("a", "1", 30*time.Second)}, "", Warning},
		{[]store.Node{running("a", "1", 30001*time.Millisecond)}, "", Problem},
		{[]store.Node{running("a", "1", 0), running("b", "2", 0)}, "", Warning},
		{[]store.Node{running("a", "1", 0), {Name: "b", Version: "2", State: store.NodeLost, ClockOffset: time.Hour}}, "", Warning},
		{[]store.Node{running("a", "1", 0)}, "a", Warning},
	} {
		var d doctor
		d.Node = test.name
		d.checkNodes(app.Inspection{Nodes: test.nodes})
		d.found(t, test, test.want)
	}
}

// The database's clock may be 2 s off, either way, and no node is ready from 30 s on.
func TestDatabaseClock(t *testing.T) {
	for off, want := range map[time.Duration]string{
		2 * time.Second: OK, 2001 * time.Millisecond: Warning, 30 * time.Second: Warning, 30001 * time.Millisecond: Problem,
	} {
		for _, off := range []time.Duration{off, -off} {
			var d doctor
			d.checkDatabaseClock(app.Inspection{Offset: off})
			d.found(t, off, want)
		}
	}
}

// A transaction may be open for a minute. 100,000 dead rows are few, and more are not
// many unless they are more than those that are alive.
func TestCleaning(t *testing.T) {
	for _, test := range []struct {
		open       time.Duration
		dead, live int64
		want       string
	}{
		{time.Minute, 0, 0, OK}, {time.Minute + 1, 0, 0, Warning},
		{0, 100_000, 0, OK}, {0, 100_001, 100_000, Warning}, {0, 100_001, 100_001, OK},
	} {
		var d doctor
		d.checkCleaning(app.Inspection{OldestRead: test.open, Dead: test.dead, Live: test.live})
		d.found(t, test, test.want)
	}
}

// A database without room takes no changes.
func TestRoom(t *testing.T) {
	for full, want := range map[bool]string{false: OK, true: Problem} {
		var d doctor
		d.checkRoom(app.Inspection{Full: full})
		d.found(t, full, want)
	}
}

// A server that is to start needs 16 connections that others leave, unless a pooler
// shares them out.
func TestConnectionsInUse(t *testing.T) {
	for _, test := range []struct {
		used           int
		served, pooled bool
		want           string
	}{{84, false, false, OK}, {85, false, false, Warning}, {100, true, false, OK}, {100, false, true, OK}} {
		d := doctor{served: test.served}
		d.checkConnections(app.Inspection{MaxConnections: 100, Connections: test.used, Pooled: test.pooled})
		d.found(t, test, test.want)
	}
}

// Each setting of PostgreSQL that can lose a commit that was acknowledged is told of.
func TestDurability(t *testing.T) {
	for _, test := range []struct {
		in   app.Inspection
		want string
	}{
		{app.Inspection{Sync: true, CommitSync: "on"}, OK},
		{app.Inspection{Sync: true, CommitSync: "local"}, OK},
		{app.Inspection{Sync: false, CommitSync: "on"}, Problem},
		{app.Inspection{Sync: true, CommitSync: "off", Standbys: 1, SyncStandbys: "a"}, Problem},
		{app.Inspection{Sync: true, CommitSync: "on", Standbys: 1}, Warning},
		{app.Inspection{Sync: true, CommitSync: "local", Standbys: 1, SyncStandbys: "a"}, Warning},
		{app.Inspection{Sync: true, CommitSync: "on", Standbys: 1, SyncStandbys: "a"}, OK},
	} {
		var d doctor
		d.checkDurability(test.in)
		d.found(t, test.in, test.want)
	}
}
