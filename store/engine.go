package store

import (
	"context"
	"os"
	"time"
)

// Engine is a Store with what it takes to run a server on it, to watch it and to
// describe it.
type Engine interface {
	Store

	// Life is done once the engine can't continue, with the reason as its cause.
	// From then on every call fails.
	Life() context.Context
	// CheckPlace ends the Life of an engine whose data is no longer where it was
	// opened. It writes nothing.
	CheckPlace() error
	// Probe makes an empty commit, which takes the way of any other, and finds out whether
	// there is room for more. Its errors are those of an Update.
	Probe(ctx context.Context) error
	// Failing is why the last commit that was more than a Probe was refused, as the next one
	// would be; nil: it wasn't, or nothing but Probes was tried for ten seconds.
	Failing() error

	// OnCommit sets fn to be called after each commit. fn must not block. It is set
	// once, before the first Update that it needs to see.
	OnCommit(fn func(Commit))
	// LastCommit returns when the last commit succeeded, by the system's clock; zero:
	// none since the engine was opened, or the last one failed.
	LastCommit() time.Time
	// Now is the engine's clock, which all nodes have in common.
	Now() time.Time
	// ClockOffset is how far that is ahead of this machine's; 0: it is this machine's.
	ClockOffset() time.Duration
	// Stats reads no records. Of a database that does not answer within 2 s it returns
	// what is known here, with the error.
	Stats() (Stats, error)
	About() (About, error)

	// Nodes lists the servers on the data, by name, and those that were lost lately. Of
	// data that one process has for itself it lists none.
	Nodes(ctx context.Context) ([]Node, error)

	// Clear deletes all records but the certificates and the operator token of an id, empty
	// for none, in one commit: for tests, whose data is small. Data that was not opened for tests, or that others may use and does
	// not itself say that it is for tests, stays as it is, with an error. New ids and endpoint numbers follow those that were given before.
	Clear(ctx context.Context, tokenID string) error
}

// FileEngine is an Engine whose data is one file, which can be copied as a whole.
type FileEngine interface {
	Engine
	// Path returns the path of the data file.
	Path() string
	// Snapshot makes a copy, positioned at its start, that is gone once it is closed.
	Snapshot(ctx context.Context) (*os.File, error)
	// Backup makes a verified copy at a path where there is nothing yet.
	Backup(ctx context.Context, to string) error
}

// Shards is how many parts the endpoints are shared out in among nodes.
const Shards = 64

// MaxClockOffset is how far a node's clock may differ from the engine's. One that is
// further off is not ready, and has no share of the endpoints while others have.
const MaxClockOffset = 30 * time.Second

// The states of a node.
const (
	NodeRunning  = "running"
	NodeStopping = "stopping" // it gives up what it has
	NodeLost     = "lost"     // it was not seen for so long that others have it
)

// Node is a server among those on the same data.
type Node struct {
	Name, Version string
	State         string
	Shards        int           // for whose endpoints it sends, of Shards
	ClockOffset   time.Duration // how far the engine's clock is ahead of the node's
	StartedAt     time.Time
	SeenAt        time.Time // its last heartbeat
}

// Commit is what OnCommit reports of one commit.
type Commit struct {
	Updates int           // number of Updates that shared it
	Took    time.Duration // from its first update's start until it was durable
	Err     error         // nil: it is durable
}

// Stats are the statistics of an open engine.
type Stats struct {
	Reads      int           // open read transactions, up to 256
	OldestRead time.Duration // age of the oldest of them
	Size       int64         // of the data, in bytes
	Free       int64         // bytes of it that later commits can reuse, as of up to a minute ago; 0 in a database
	Database   *Database     // nil: the data is in no database
}

// Database is the state of the way to a database.
type Database struct {
	Connections    int           // in use
	MaxConnections int           // that this server may use
	Waiting        int           // calls that wait for one
	ClockOffset    time.Duration // how far its clock is ahead of this machine's
	Retries        uint64        // transactions that were run again, since the start
	Doubts         uint64        // commits whose answer was lost, and which the database was asked about
}

// About describes the data of an engine.
type About struct {
	Place  string // the path of the data file, or another engine's name of where the data is
	Size   int64  // bytes
	Schema int
	Sealed bool
	Newest time.Time // the newest of the stored times that new ones follow; zero: none
	Now    time.Time // by the engine's clock
}
