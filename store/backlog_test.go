package store_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

func TestBacklogOfPulled(t *testing.T) { onBoth(t, testBacklogOfPulled) }

// More endpoints are pulled from than are looked at once; each has two deliveries, of which
// one is leased.
func testBacklogOfPulled(s *subject) {
	const endpoints = 103
	s.Seed()
	start := s.Clock.Now()
	var key store.APIKey
	s.Write(func(tx store.Tx) (err error) {
		key, err = store.ImportKey(tx, store.APIKey{ID: "key_pull", OrgID: acme, Scopes: store.ScopeReceive, CreatedBy: ada})
		for i := range endpoints {
			if err != nil {
				return err
			}
			_, err = tx.AddEndpoint(store.Endpoint{Number: store.FirstPull, ID: fmt.Sprint("pull_", i), OrgID: acme, Events: []string{store.EventMemberAdded}, CreatedAt: tx.Now()})
		}
		return err
	})
	each := func(do func(tx store.Tx, endpoint string) error) {
		s.Write(func(tx store.Tx) error {
			for i := range endpoints {
				if err := do(tx, fmt.Sprint("pull_", i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	send := func(tx store.Tx, endpoint string) error {
		_, err := store.SendTest(tx, acme, endpoint)
		return err
	}
	each(send)
	s.Clock.Move(time.Minute)
	each(send)
	backlog := func() (b store.Backlog) {
		s.Read(func(tx store.Tx) (err error) {
			b, err = tx.Backlog(context.Background())
			return err
		})
		return b
	}
	before := backlog()
	s.Equal("to be pulled", before.Pull, 2*endpoints)
	s.Equal("since", before.PullAt, start)
	s.Equal("leased", before.Leased, 0)
	s.Equal("to be sent", before.Busy, 0)

	each(func(tx store.Tx, endpoint string) error {
		_, err := store.Pull(tx, endpoint, store.PullRequest{Key: &key, Limit: 1, Lease: time.Minute})
		return err
	})
	after := backlog()
	s.Equal("still to be pulled", after.Pull, endpoints)
	s.Equal("since", after.PullAt, start.Add(time.Minute))
	s.Equal("leased", after.Leased, endpoints)
}
