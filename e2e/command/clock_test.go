package command

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"teamdata/cli/doctor"
	"teamdata/e2e/kit"
	"teamdata/e2e/kit/program"
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
	kit.Must(t, err)
	err = s.Update(context.Background(), store.All, func(tx store.Tx) error {
		if _, err := store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme"}); err != nil {
			return err
		}
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: "door.opened"})
		return err
	})
	kit.Must(t, err)
	s.Close()
	kit.Must(t, os.Chtimes(data, time.Now(), time.Now()))
	day := ahead.Format("2006-01-02T15:")
	finds(t, examined(t, "--data", data), "clock", doctor.Problem, day+".*set the clock")
	p := program.Serve(t, data)
	p.Says("times ahead of the clock")
	if out := program.MustRun(t, "status", "--data", data, "--json"); !strings.Contains(out, `"aheadOfClock":"`+day) {
		t.Errorf("the status is %s", out)
	}
	finds(t, examined(t, "--data", data), "clock", doctor.Problem, day+".*set the clock")
}

// export tells of a record that import would refuse, as its time is too far ahead, and
// what to do. The export can be imported then. check tells of such a time too.
func TestExportAheadOfTheClock(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, other, to := filepath.Join(folder, "a.db"), filepath.Join(folder, "b.db"), filepath.Join(folder, "a.json")
	s, err := boltstore.Open(data, boltstore.Options{Now: func() time.Time { return store.MaxTime }})
	kit.Must(t, err)
	err = s.Update(context.Background(), store.All, func(tx store.Tx) error {
		if _, err := store.ImportOrg(tx, store.Org{ID: "org_acme", Name: "Acme", CreatedAt: time.Now()}); err != nil {
			return err
		}
		for _, id := range []string{"aud_2", "aud_1"} { // aud_1 comes after all years of four digits
			if _, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", ID: id, Action: "door.opened"}); err != nil {
				return err
			}
		}
		_, err := store.ImportKey(tx, store.APIKey{OrgID: "org_acme", ID: "key_1", Scopes: store.ScopeRead, CreatedBy: "usr_1"})
		return err
	})
	kit.Must(t, err)
	s.Close()
	program.Says(t, 0, []string{"export", to, "--data", data}, "1 org, 2 audit entries, 1 API key\n",
		"in 3 records, first aud_2 in auditLog of org_acme, whose createdAt is 9999-12-31T23:59:59.999Z\n", "set these times back in the export")
	program.Says(t, 0, []string{"check", "--data", data}, "is sound", "times up to 10000-01-01T00:00:00.000Z, ahead of the clock")
	program.Says(t, 1, []string{"import", to, "--data", other}, "orgs[0].auditLog[1].createdAt")
	back := strings.NewReplacer("9999-12-31T23:59:59.999Z", "2026-01-01T00:00:00.000Z", "10000-01-01T00:00:00.000Z", "2026-01-01T00:00:00.000Z")
	kit.WriteFile(t, to, back.Replace(kit.ReadText(t, to)))
	program.MustRun(t, "import", to, "--data", other)
	if out := program.MustRun(t, "export", to, "--force", "--data", other); strings.Contains(out, "ahead") {
		t.Errorf("it said: %s", out)
	}
}
