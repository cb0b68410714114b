package storetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/store"
)

// Subject is a store under test, on a clock that the test moves. Its Updates are held
// to their scopes.
type Subject struct {
	testing.TB
	store.Store
	open  Open
	path  string
	Clock *Clock
}

func New(t testing.TB, open Open) *Subject {
	t.Helper()
	s := &Subject{TB: t, open: open, path: filepath.Join(t.TempDir(), "teamdata.db"), Clock: newClock()}
	s.Store = Scoped(t, open(t, s.path, s.Clock.Now))
	t.Cleanup(func() { s.Close() })
	return s
}

// Reopen closes the store and opens it again.
func (s *Subject) Reopen() {
	s.Helper()
	if err := s.Close(); err != nil {
		s.Fatalf("close: %v", err)
	}
	s.Store = Scoped(s.TB, s.open(s.TB, s.path, s.Clock.Now))
}

// Write is an Update that must succeed.
func (s *Subject) Write(fn func(store.Tx) error) {
	s.Helper()
	if err := s.Update(context.Background(), store.All, fn); err != nil {
		s.Fatalf("update: %v", err)
	}
}

// Read is a View that must succeed.
func (s *Subject) Read(fn func(store.Tx) error) {
	s.Helper()
	if err := s.View(context.Background(), fn); err != nil {
		s.Fatalf("view: %v", err)
	}
}

// Equal compares values by what they show: an empty slice is a nil one. Like
// all that is called inside a closure it must not end the test: an engine may
// run closures on a goroutine of its own.
func (s *Subject) Equal(what string, got, want any) {
	s.Helper()
	if reflect.DeepEqual(got, want) {
		return // and need not be shown, which takes long where there are many bytes
	}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		s.Errorf("%s:\n got %s\nwant %s", what, brief(g), brief(w))
	}
}

func brief(text string) string {
	if len(text) > 2000 {
		return text[:2000] + "…"
	}
	return text
}

// Code holds an error to a code; "" is for no error.
func (s *Subject) Code(what string, err error, want store.Code) {
	s.Helper()
	if got := store.CodeOf(err); got != want {
		s.Errorf("%s: got %q (%v), want %q", what, got, err, want)
	}
}

// Clock is a clock that stands still until it is moved.
type Clock struct{ ms atomic.Int64 }

var epoch = time.Date(2026, 10, 6, 12, 0, 0, 0, time.UTC)

func newClock() *Clock {
	c := new(Clock)
	c.ms.Store(epoch.UnixMilli())
	return c
}

// Now is what the clock shows.
func (c *Clock) Now() time.Time { return time.UnixMilli(c.ms.Load()).UTC() }

// Move moves the clock on, or back.
func (c *Clock) Move(d time.Duration) { c.ms.Add(d.Milliseconds()) }

// The orgs, users and endpoints of the fixed tests.
const (
	acme  = "org_acme"
	other = "org_other"
	ada   = "usr_ada"
	bob   = "usr_bob"
)

// Seed makes the orgs acme and other, each with ada as owner, and in acme an
// endpoint that takes every event.
func (s *Subject) Seed() (endpoint store.Endpoint) {
	s.Helper()
	s.Write(func(tx store.Tx) (err error) {
		endpoint, err = seed(tx, "")
		return err
	})
	return endpoint
}

// seed does what Seed does; ada has an address in both orgs.
func seed(tx store.Tx, address string) (store.Endpoint, error) {
	for _, id := range []string{acme, other} {
		_, err := store.ImportOrg(tx, store.Org{ID: id, Name: id})
		_, errAda := store.ImportMember(tx, store.Member{OrgID: id, UserID: ada, Role: store.RoleOwner, Email: address})
		if err := errors.Join(err, errAda); err != nil {
			return store.Endpoint{}, err
		}
	}
	return store.ImportEndpoint(tx, newEndpoint(acme, "whe_1"))
}

func newEndpoint(orgID, id string) store.Endpoint {
	return store.Endpoint{
		OrgID: orgID, ID: id, URL: "https://example.com/" + id, Events: store.BuiltInEventTypes[:7],
		Secret: "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=",
	}
}

// addAudit appends an entry to acme's audit log.
func addAudit(tx store.Tx, action string) error {
	return second(store.AppendAudit(tx, store.AuditEntry{OrgID: acme, Action: action}))
}
