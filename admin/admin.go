// Package admin is the face for those who own the data: the admin API of
// docs/admin-api.md, on a socket and over HTTPS.
//
// A request goes from top to bottom through one function, serve: the checks of
// request.go in their order, then the handler of its route (routes.go). What a
// handler does to the data is one function on a transaction, which it hands to
// one of three: read, change, or once for a POST, whose answer is kept under its
// Idempotency-Key. All of them look whether the org exists, before anything else
// is looked up. What a client sees of an error is decided in answer.go.
//
// The package knows the data only through [store.Store], and leaves the rules to
// the functions of package store.
package admin

import (
	"context"
	"net/http"
	"os"
	"time"

	"github.com/rs/zerolog"

	"teamdata/admin/schema"
	"teamdata/store"
)

// Config is what main introduces.
type Config struct {
	Version string         // of the program
	Log     zerolog.Logger // changes at info level, faults of the server at error level

	// Status tells what main knows of the server.
	Status func(ctx context.Context) (Status, error)
	// LinkURL is where a sign-in link with a token leads; nil: that is not known.
	LinkURL func(token string) string
	// Mailed is told that mail was queued; nil: nobody sends any from here.
	Mailed func()
	// Snapshot is a copy of one moment of the data file, to be read from its start
	// and closed. It takes no more transaction.
	Snapshot func(ctx context.Context) (*os.File, error)
}

// Status is what main knows of the server.
type Status struct {
	DataFile  string
	Size      int64 // of the data file, in bytes
	Schema    int   // of the data file
	Sealed    bool
	Since     time.Time // when it began to be served
	Addresses []string  // where it is served, such as https://127.0.0.1:8443

	Certificates []Certificate // that it is served with
}

// Certificate is how it is with one certificate. A time that is not known is
// zero.
type Certificate struct {
	Name        string
	NotAfter    time.Time // when it expires
	NextRenewal time.Time // from when on it is renewed; zero: by somebody else
	LastError   string    // of the last try to renew it; empty: that went well
	LastErrorAt time.Time
}

// Admin answers the admin API from a store. Make one with New.
type Admin struct {
	store       store.Store
	config      Config
	idempotency store.Idempotency
	schemas     schema.Cache
	copying     chan struct{} // holds a token while a backup is made
}

// New makes an Admin on a store, which stays the caller's to close.
func New(s store.Store, c Config) *Admin {
	return &Admin{store: s, config: c, copying: make(chan struct{}, 1)}
}

// Local answers whoever reaches it: it is for a socket that only the owner of
// the data opens.
func (a *Admin) Local() http.Handler { return a.newAPI(func(*request) error { return nil }) }

// Remote asks each request for an operator token.
func (a *Admin) Remote() http.Handler { return a.newAPI((*request).checkToken) }
