package server

import (
	"time"

	"teamdata/store"
)

// steps are what a "!" line can say.
var steps = map[string]func(*testEnv){
	"a second passes": func(env *testEnv) { env.Advance(time.Second) },
	"a minute passes": func(env *testEnv) { env.Advance(time.Minute) },
	"59 seconds pass": func(env *testEnv) { env.Advance(59 * time.Second) },
	"an hour passes":  func(env *testEnv) { env.Advance(time.Hour) },
	"23 hours pass":   func(env *testEnv) { env.Advance(23 * time.Hour) },
	"consumers pull from whe_pull with key_pull": (*testEnv).addPull,
	"a test is sent to whe_pull":                 func(env *testEnv) { env.send("whe_pull", 1) },
	"key_read makes 99 requests": func(env *testEnv) {
		for range 99 {
			env.do(newRequest("GET", "/api/v1/members", "key_read"))
		}
	},
	"the address makes 599 requests": func(env *testEnv) {
		for range 599 {
			r := newRequest("GET", "/api/v1/members", "")
			r.RemoteAddr = "127.0.0.1:1" // where the story's own requests come from
			env.do(r)
		}
	},
	"key_both is revoked": func(env *testEnv) {
		env.Update(func(tx store.Tx) error { return store.RevokeKey(tx, "usr_ada", "org_acme", "key_both") })
	},
	"usr_bob, who made key_both, becomes a plain member": func(env *testEnv) {
		env.Update(func(tx store.Tx) error { return changeRole(tx, "usr_ada", "org_acme", "usr_bob", "member") })
	},
	"usr_bob, who made key_both, leaves": func(env *testEnv) {
		env.Update(func(tx store.Tx) error { return store.RemoveMember(tx, "usr_ada", "org_acme", "usr_bob") })
	},
	"org_acme goes over to the plan team": func(env *testEnv) {
		env.Update(func(tx store.Tx) error {
			_, err := store.ChangeSubscription(tx, "", "org_acme", store.Subscription{Product: "teamdata", Plan: "team", Interval: "month", Status: "active"})
			return err
		})
	},
	"the instructions are cleared": func(env *testEnv) {
		env.Update(func(tx store.Tx) error { return store.SetInstructions(tx, "usr_ada", "org_acme", "", false) })
	},
	"mem_4 joins": func(env *testEnv) {
		env.Update(func(tx store.Tx) error {
			_, err := store.AddMember(tx, "usr_ada", store.Member{OrgID: "org_acme", ID: "mem_4", UserID: "usr_dee", Role: "auditor"})
			return err
		})
	},
	"whe_closed is enabled": func(env *testEnv) {
		env.Update(func(tx store.Tx) error {
			e, err := tx.Endpoint("org_acme", "whe_closed")
			if err != nil {
				return err
			}
			e.DisabledAt = time.Time{}
			return tx.PutEndpoint(e)
		})
	},
	"the storage fails":         func(env *testEnv) { env.Store.Close() },
	"the server begins to stop": func(env *testEnv) { env.server.stopping.Store(true) },
}
