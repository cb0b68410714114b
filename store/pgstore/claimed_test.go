package pgstore

import (
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
	"teamdata/store/engine"
)

// A claimed delivery is not read again for its outcome, unless it was written since: then
// what it has become counts, also when a query has sent the outcome early.
func TestWrittenSinceItWasClaimed(t *testing.T) {
	for what, early := range map[string]bool{"with the commit": false, "before a query": true} {
		t.Run(what, func(t *testing.T) {
			target, err := ParseTarget(WithTables(t))
			kit.Must(t, err)
			s, err := Open(bg, target, Options{Node: "one"})
			kit.Must(t, err)
			defer s.Close()
			var ids []string
			update(t, s, func(tx store.Tx) error {
				if _, err := store.ImportOrg(tx, store.Org{ID: "org_1", Name: "One"}); err != nil {
					return err
				}
				_, err := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: "org_1", URL: "https://receiver.example/hook", Events: []string{"*"}})
				for range 3 {
					d, errSend := store.SendTest(tx, "org_1", "whe_1")
					if ids = append(ids, d.ID); errSend != nil {
						return errSend
					}
				}
				return err
			})
			claims, err := s.Claim(bg, 1, time.Now().Add(time.Hour), 9)
			if err != nil || len(claims.Claims) != 3 {
				t.Fatalf("claimed %d, %v", len(claims.Claims), err)
			}
			update(t, s, func(tx store.Tx) error {
				d, err := tx.Delivery(ids[1])
				if err != nil {
					return err
				}
				d.Attempts = 5
				if err := tx.PutDelivery(d); err != nil {
					return err
				}
				return tx.DeleteDelivery(ids[2])
			})
			var group []*engine.Update
			for _, id := range ids {
				scope := store.Scope{Orgs: []string{"org_1"}, Deliveries: []string{id}, Fence: claims.Fence}
				group = append(group, &engine.Update{Ctx: bg, Scope: scope, Fn: func(tx store.Tx) error {
					_, err := store.RecordAttempt(tx, id, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}, nil)
					if early && err == nil {
						_, _, err = tx.DeliveryPage(1, store.ListAcknowledged, store.Cursor{}, 9)
					}
					return err
				}})
			}
			s.commit(group[:2])
			s.commit(group[2:])
			for _, id := range ids {
				s.Release(id)
			}
			s.node.mu.Lock()
			if n := s.node; len(n.claims)+len(n.claimed)+len(n.inFlight) > 0 {
				t.Errorf("claims are left: %v, %v, %v", n.claims, n.claimed, n.inFlight)
			}
			s.node.mu.Unlock()
			if group[0].Err != nil || group[1].Err != nil || !store.IsNotFound(group[2].Err) {
				t.Errorf("the updates are told %v, %v and %v", group[0].Err, group[1].Err, group[2].Err)
			}
			update(t, s, func(tx store.Tx) error {
				for i, attempts := range []int{1, 6} {
					if d, err := tx.Delivery(ids[i]); err != nil || d.State != store.StateAcknowledged || d.Attempts != attempts {
						t.Errorf("delivery %d has %d attempts and is %s, %v", i, d.Attempts, d.State, err)
					}
				}
				return tx.EachDeliveryCounts("org_1", time.Time{}, func(_ uint64, _ time.Time, c store.DeliveryCounts) {
					if c.Acknowledged != 2 {
						t.Errorf("%d are counted", c.Acknowledged)
					}
				})
			})
		})
	}
}

func update(t *testing.T, s *Store, fn func(store.Tx) error) {
	t.Helper()
	kit.Must(t, s.Update(bg, store.All, fn))
}
