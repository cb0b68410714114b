package server

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

var pullOperations = []string{"whe_pull", "whe_pull/ack", "whe_pull/nack", "whe_pull/extend"}

// FuzzPullBodies sends any body to each operation of consumers: what is refused changes
// nothing, and what is acknowledged is. In a body, whd_1 stands for a delivery that is
// leased, with lse_1, whd_2 for one whose lease has ended, with lse_2, whd_3 for one that
// waits, and whd_4 for another endpoint's.
func FuzzPullBodies(f *testing.F) {
	for _, body := range []string{
		``, `{}`, `[]`, `null`, `{"limit":1,"waitSeconds":60,"leaseSeconds":5,"ack":["whd_1","whd_2","whd_3"]}`,
		`{"ack":["whd_1","whd_4"]}`, `{"ack":null,"limit":null}`, `{"limit":1e1}`, `{"limit":0.5}`, `{"limit":99999999999999999999}`,
		`{"ids":["whd_1","whd_1","whd_2","whd_3"]}`, `{"ids":["whd_1","whd_4"]}`, `{"ids":[""]}`, `{"ids":[null]}`, `{"ids":["\ud800"]}`,
		`{"deliveries":[{"id":"whd_1","lease":"lse_1"}],"reason":"no","delaySeconds":0}`,
		`{"deliveries":[{"id":"whd_1","lease":"lse_1"}],"leaseSeconds":3600}`,
		`{"deliveries":[{"id":"whd_1","lease":"lse_1"},{"id":"whd_2","lease":"lse_2"}]}`,
		`{"deliveries":[{"id":"whd_3","lease":""}]}`, `{"deliveries":[{"id":"whd_1"}]}`, `{"deliveries":[null]}`,
		`{"deliveries":[{"id":"whd_1","lease":"lse_1"}],"deliveries":[]}`,
	} {
		for operation := range pullOperations {
			f.Add(byte(operation), body)
		}
	}
	f.Fuzz(func(t *testing.T, operation byte, body string) {
		env := newPullEnv(t, Config{})
		env.server.pulls.stop() // nobody sends what a request would wait for
		path := pullOperations[int(operation)%len(pullOperations)]
		names, ids := env.somePulled()
		body = names.Replace(body)
		before := env.rowsOf()
		answer := asked(t, env, pullRequestOf(path, "key_pull", body))
		switch answer.Code {
		case http.StatusOK:
			env.wantAcknowledged(ids, path, body)
		case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge:
			if env.rowsOf() != before {
				t.Errorf("%s %q is refused with %s, and something changed", path, body, answer.Body)
			}
		default:
			t.Errorf("%s %q: got %d %s", path, body, answer.Code, answer.Body)
		}
	})
}

// somePulled makes the deliveries that bodies name, and puts their ids and leases in.
func (env *testEnv) somePulled() (names *strings.Replacer, ids []string) {
	env.Helper()
	ids = append(env.send("whe_pull", 3), env.send("whe_second", 1)...)
	ended := env.pull("whe_pull", "key_pull", `{"limit":2,"leaseSeconds":5}`).Deliveries
	env.Advance(5 * time.Second)
	current := env.pull("whe_pull", "key_pull", `{"limit":1}`).Deliveries
	if len(ended) != 2 || len(current) != 1 || current[0].ID != ids[0] {
		env.Fatalf("pulled %+v, then %+v", ended, current)
	}
	return strings.NewReplacer("whd_1", ids[0], "whd_2", ids[1], "whd_3", ids[2], "whd_4", ids[3], "lse_1", current[0].Lease, "lse_2", ended[1].Lease), ids
}

// wantAcknowledged complains unless those of the deliveries are acknowledged that a body
// names for it, and there are no others.
func (env *testEnv) wantAcknowledged(ids []string, path, body string) {
	env.Helper()
	var named struct{ Ack, IDs []string }
	json.Unmarshal([]byte(body), &named) // may be empty
	want := append(named.Ack, named.IDs...)
	env.View(func(tx store.Tx) error {
		for _, id := range ids {
			d, err := tx.Delivery(id)
			if err != nil || (d.State == store.StateAcknowledged) != slices.Contains(want, id) {
				env.Errorf("%s %s: %s is %v, %v", path, body, id, d.State, err)
			}
		}
		return nil
	})
	for _, id := range want {
		if !slices.Contains(ids, id) {
			env.Errorf("%s %s: %q is no delivery", path, body, id)
		}
	}
}
