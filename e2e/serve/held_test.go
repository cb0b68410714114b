package serve_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// TestHeldForTooLong: what a disabled endpoint has held for 100 days is dropped, and what
// one has held for 80 days is there.
func TestHeldForTooLong(t *testing.T) {
	data := filepath.Join(t.TempDir(), "teamdata.db")
	now := time.Now().AddDate(0, 0, -100)
	s, err := boltstore.Open(data, boltstore.Options{NoSync: true, Now: func() time.Time { return now }})
	kit.Must(t, err)
	var held []string
	hold := func(tx store.Tx) error {
		org, err := store.CreateOrg(tx, "", store.Org{Name: "Acme"})
		if err != nil {
			return err
		}
		e, err := store.CreateEndpoint(tx, "", store.Endpoint{OrgID: org.ID, URL: "https://example.com/", Events: []string{store.EventMemberAdded}})
		if err != nil {
			return err
		}
		d, err := store.SendTest(tx, org.ID, e.ID)
		held = append(held, org.ID, d.ID)
		return errors.Join(err, store.DisableEndpoint(tx, "", org.ID, e.ID))
	}
	for range 2 {
		kit.Must(t, s.Update(context.Background(), store.All, hold))
		now = now.AddDate(0, 0, 20)
	}
	kit.Must(t, s.Close())

	p := program.Serve(t, data, "--delivery-retention", "10ms") // sweeps as often as that
	p.Await("the end of what was held for too long", func() bool {
		out, err := program.Run(t, "delivery", "show", held[1], "--org", held[0], "--data", data)
		return err != nil && strings.Contains(out, "no such delivery")
	})
	if out := program.MustRun(t, "delivery", "show", held[3], "--org", held[2], "--data", data); !strings.Contains(out, "held") {
		t.Errorf("what is held is shown as\n%s", out)
	}
	program.Says(t, 2, []string{"serve", "--held-retention=0s"}, "--held-retention must be longer than 0")
}
