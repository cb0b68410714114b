package admin

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// Figures whose bound other tests exercise by the name of the constant.
func TestFigures(t *testing.T) {
	for what, figure := range map[string][2]any{
		"bytes of a body":                     {maxBody, 64 << 10},
		"bytes of an endpoint":                {maxEndpoint, 256 << 10},
		"bytes of instructions":               {maxInstructions, 1 << 20},
		"bytes of a batch":                    {maxBatch, 8 << 20},
		"deliveries that are read for a page": {maxScanned, 500},
		"a client that doesn't read a backup": {stall, 30 * time.Second},
	} {
		if figure[0] != figure[1] {
			t.Errorf("%s: %v, not %v", what, figure[0], figure[1])
		}
	}
}

// A sign-in link is for a day, and a portal link for an hour, unless the request says
// another time.
func TestLinksOfNoTime(t *testing.T) {
	env := newTestEnv(t)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/members/usr_ada/signin-link", ""), 201, `{{*}}"expiresAt":"2026-10-07T12:00:00.000Z",{{*}}`)
	env.wantAnswer(env.do("POST", "/orgs/org_acme/portal-link", `{"userId":"u","role":"viewer"}`), 201, `{{*}}"expiresAt":"2026-10-06T13:00:00.000Z",{{*}}`)
}

// The status names 100 deleted orgs, and no more.
func TestDeletedOrgsOfStatus(t *testing.T) {
	env := newTestEnv(t)
	env.Update(func(tx store.Tx) (err error) {
		for i := range 101 {
			_, errImport := store.ImportOrg(tx, store.Org{ID: fmt.Sprintf("org_%03d", i), Name: "O"})
			err = errors.Join(err, errImport, store.DeleteOrg(tx, fmt.Sprintf("org_%03d", i)))
		}
		return err
	})
	env.wantAnswer(env.do("GET", "/status", ""), 200, `{{*}},"deletedOrgs":["org_000",{{*}},"org_099"]}`)
}
