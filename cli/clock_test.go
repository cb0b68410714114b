package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/cli/doctor"
	"teamdata/internal/testkit"
	"teamdata/store"
	"teamdata/store/boltstore"
)

// A data file with times ahead of the clock, as a clock that was ahead leaves it, is
// told of by doctor, by the log of the next start, and by status.
func TestDataAheadOfTheClock(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "teamdata.db")
	ahead := time.Now().Add(2 * time.Hour).UTC()
	s, err := boltstore.Open(data, boltstore.Options{Now: func() time.Time { return ahead }})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Update(context.Background(), func(tx store.Tx) error {
		if _, err := store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme"}); err != nil {
			return err
		}
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: "door.opened"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if err := os.Chtimes(data, time.Now(), time.Now()); err != nil {
		t.Fatal(err)
	}
	day := ahead.Format("2006-01-02T15:")
	finds(t, examined(t, "--data", data), "clock", doctor.Problem, day+".*set the clock")
	p := testkit.Serve(t, data)
	p.Says("times ahead of the clock")
	if out := testkit.MustRun(t, "status", "--data", data, "--json"); !strings.Contains(out, `"aheadOfClock":"`+day) {
		t.Errorf("the status is %s", out)
	}
	finds(t, examined(t, "--data", data), "clock", doctor.Problem, day+".*set the clock")
}
