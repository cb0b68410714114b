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
