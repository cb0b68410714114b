package admin

import (
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// An endpoint says until when it waits for its rate, while something is due there.
func TestWaitsForRateUntil(t *testing.T) {
	env := newTestEnv(t)
	const path = "/orgs/org_acme/endpoints/whe_1"
	shows := func(what, until string) {
		t.Helper()
		a := env.do("GET", path, "")
		if has := strings.Contains(a.Body, `"waitsForRateUntil":"`+until); a.Status != 200 || has != (until != "") {
			t.Errorf("%s: %d %s", what, a.Status, a.Body)
		}
	}
	if a := env.do("PATCH", path, `{"rate":"1/h"}`); a.Status != 200 {
		t.Fatal(a.Body)
	}
	kit.Must(t, env.Store.Update(t.Context(), store.All, func(tx store.Tx) error {
		e, err := tx.Endpoint("org_acme", "whe_1")
		if err == nil {
			_, err = store.ReserveAttempts(tx, &e, tx.Now(), store.Grant{}, nil)
		}
		return err
	}))
	shows("nothing is due", "")
	kit.Must(t, env.Store.Update(t.Context(), store.All, func(tx store.Tx) error {
		_, err := store.SendTest(tx, "org_acme", "whe_1")
		return err
	}))
	shows("a delivery is due", store.FormatTime(env.Now().Add(time.Hour+store.MaxGrantTime)))
}
