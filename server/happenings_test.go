package server

import (
	"time"

	"teamdata/store"
)

// happenings are what a "!" line can say.
var happenings = map[string]func(*world){
	"a second passes": func(w *world) { w.clock.pass(time.Second) },
	"59 seconds pass": func(w *world) { w.clock.pass(59 * time.Second) },
	"an hour passes":  func(w *world) { w.clock.pass(time.Hour) },
	"23 hours pass":   func(w *world) { w.clock.pass(23 * time.Hour) },
	"key_read makes 99 requests": func(w *world) {
		for range 99 {
			w.do(newRequest("GET", "/api/v1/members", "key_read"))
		}
	},
	"the address makes 599 requests": func(w *world) {
		for range 599 {
			r := newRequest("GET", "/api/v1/members", "")
			r.RemoteAddr = "127.0.0.1:1" // where the story's own requests come from
			w.do(r)
		}
	},
	"key_both is revoked": func(w *world) {
		w.update(func(tx store.Tx) error { return store.RevokeKey(tx, "usr_ada", "org_acme", "key_both") })
	},
	"usr_bob, who made key_both, becomes a plain member": func(w *world) {
		w.update(func(tx store.Tx) error { return changeRole(tx, "usr_ada", "org_acme", "usr_bob", "member") })
	},
	"usr_bob, who made key_both, leaves": func(w *world) {
		w.update(func(tx store.Tx) error { return store.RemoveMember(tx, "usr_ada", "org_acme", "usr_bob") })
	},
	"org_acme goes over to the plan team": func(w *world) {
		w.update(func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Product: "teamdata", Plan: "team", Interval: "month", Status: "active"})
			return err
		})
	},
	"the instructions are cleared": func(w *world) {
		w.update(func(tx store.Tx) error { return store.SetInstructions(tx, "usr_ada", "org_acme", "", false) })
	},
	"mem_4 joins": func(w *world) {
		w.update(func(tx store.Tx) error {
			_, err := store.AddMember(tx, "usr_ada", store.Member{OrgID: "org_acme", ID: "mem_4", UserID: "usr_dee", Role: "auditor"})
			return err
		})
	},
	"whe_closed is enabled": func(w *world) {
		w.update(func(tx store.Tx) error {
			e, err := tx.Endpoint("org_acme", "whe_closed")
			if err != nil {
				return err
			}
			e.DisabledAt = time.Time{}
			return tx.PutEndpoint(e)
		})
	},
	"the storage fails":         func(w *world) { w.store.Close() },
	"the server begins to stop": func(w *world) { w.server.stopping.Store(true) },
}
