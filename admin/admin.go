// Package admin is the admin API of docs/admin-api.md, for those who own the data,
// on a Unix socket and over HTTPS.
//
// A request goes from top to bottom through request.go: the checks in their
// order, then the handler of its route (routes.gen.go), which passes its work on the
// data, as one function on a transaction, to view, update, or idempotent for a
// POST (transaction.go). These first find the org of the path. The code that
// the APIs share is in wire/web.
//
// The package imports wire, store, internal, its own folders and the generated types of
// client/admin/api; it knows the data only through [store.Store], and leaves the rules to
// the functions of package store.
// A new operation is its description in wire/openapi/admin.yaml, a handler of its name in its
// noun's file, and a row in operations_test.go that proves it. `go generate ./...` makes
// the route, admin.json, the methods of the clients and the row in docs/admin-api.md.
// A new field of a record is in the description, too, and in its noun's file, which turns
// the generated types of client/admin/api into records.
package admin

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/schema"
	"teamdata/store"
)

// Config is what the API needs besides a store.
type Config struct {
	Version string         // of the program
	Address string         // of the server in the reference page, such as https://data.example.com; empty: as a request has it
	Log     zerolog.Logger // changes at info level, faults of the server at error level

	// LogPushed reports whether to log the next change pushed by a program; nil:
	// log all.
	LogPushed func() bool

	// Status returns the state of the running server.
	Status func(ctx context.Context) (Status, error)
	// Nodes lists the servers on the data, by name.
	Nodes func(ctx context.Context) ([]store.Node, error)
	// LinkURL returns the address of a sign-in link with a token; nil: unknown.
	LinkURL func(token string) string
	// WarnOfURL returns why nothing would be delivered to a URL, if that is
	// known; nil or empty: unknown.
	WarnOfURL func(url string) string
	// Mailed is called after mail was queued; nil: this process sends none.
	Mailed func()
	// NoMail refuses requests for mail: a running server has no mail server. Commands that
	// work without a server leave it false, since they don't know the next one's settings.
	NoMail bool
	// Removed is called after an org was deleted, whose data is still to be dropped;
	// nil: a later sweep does that.
	Removed func()
	// Replaying is called after a replay was created, which [store.RunReplays] does;
	// nil: it waits for a process that does so.
	Replaying func()
	// TestClock makes it the API of a server for tests; nil: of any other.
	TestClock TestClock
	// Snapshot makes a consistent copy of the data file, to be read from its start
	// and closed. Reading it holds no transaction open. nil: the data is in no file.
	Snapshot func(ctx context.Context) (*os.File, error)
}

// Status is the state of a running server.
type Status struct {
	DataFile  string
	Size      int64 // of the data file, in bytes
	Schema    int   // of the data file
	Sealed    bool
	Ahead     time.Time // the newest stored time if that is ahead of the clock; else zero
	Since     time.Time // when serving began
	Addresses []string  // where it is served, such as https://127.0.0.1:8443

	Certificates []store.CertificateStatus // its certificates
}

// Admin answers the admin API from a store. Create it with New.
type Admin struct {
	store       store.Store
	config      Config
	idempotency store.Idempotency
	schemas     schema.Cache
	copying     chan struct{} // has a token while a backup is made
}

// New returns an Admin on a store, which the caller closes.
func New(s store.Store, c Config) *Admin {
	if c.LogPushed == nil {
		c.LogPushed = func() bool { return true }
	}
	return &Admin{store: s, config: c, copying: make(chan struct{}, 1)}
}

// Local doesn't authenticate: it is for a socket that only the owner of the data
// can open, and who is told why the storage can't be used.
func (a *Admin) Local() http.Handler { return a.newAPI(true) }

// Remote requires an operator token with each request.
func (a *Admin) Remote() http.Handler { return a.newAPI(false) }
