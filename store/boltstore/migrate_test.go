package boltstore

import (
	"bytes"
	"compress/gzip"
	"io"
	"path/filepath"
	"testing"
	"time"

	"teamdata/store"
)

// unzip writes a file of testdata where it can be opened.
func unzip(t *testing.T, name string) *fixture {
	t.Helper()
	f := &fixture{TB: t, path: filepath.Join(t.TempDir(), "teamdata.db")}
	zipped, err := gzip.NewReader(bytes.NewReader(readFile(t, "testdata/"+name)))
	must(t, err)
	content, err := io.ReadAll(zipped)
	must(t, err)
	writeFile(t, f.path, content)
	return f
}

// schema1At is when the file of schema 1 was written last.
var schema1At = time.Date(2026, 10, 6, 14, 0, 28, 0, time.UTC)

// openSchema1 opens a copy of testdata/schema1.db.gz. The last teamdata that
// wrote schema 1 made the file, with a clock that began at 2026-10-06T12:00:00Z
// and went on by a second with each commit; then it was compacted.
//
// It holds two orgs, org_acme and org_other, each with six members added, of
// whom usr_fay, an admin, was made a member and usr_eve, an owner, removed; the
// endpoints whe_1, whe_2 and whe_off, which got the numbers 1 to 3 and 4 to 6;
// in org_acme six events of a file uploaded, with a delivery to each endpoint;
// then whe_off was disabled. The deliveries to whe_1, in the order in which they
// were made: 0 acknowledged at once (12:00:20), 1 acknowledged an hour after a
// first attempt at 12:00:21, 2 attempted once (12:00:22), 3 failed at once
// (12:00:23), 4 failed an hour after a first attempt at 13:00:25, 5 not
// attempted; an attempt took 0.1 s. Then a test went to whe_2 of org_other, whose
// instructions had been set before. There are also a key, a plan, a certificate
// and the answer kept under an Idempotency-Key.
func openSchema1(t *testing.T, now func() time.Time) *fixture {
	t.Helper()
	f := unzip(t, "schema1.db.gz")
	f.open(Options{Now: now, NoSync: true})
	t.Cleanup(func() { f.Store.Close() })
	return f
}

func atSchema1() time.Time { return schema1At }

func TestMigrate(t *testing.T) {
	f := openSchema1(t, atSchema1)
	f.findSchema1Queue()
	f.findSchema1Records()
	names := f.topBuckets()
	for _, name := range buckets {
		delete(names, string(name))
	}
	if len(names) > 0 {
		t.Errorf("these buckets are left: %v", names)
	}
	f.close()
	wellKept(t, f.path)
}

func TestMigrateOnce(t *testing.T) {
	f := openSchema1(t, atSchema1)
	f.close()
	before := readFile(t, f.path)
	f.open(Options{})
	f.close()
	if !bytes.Equal(before, readFile(t, f.path)) {
		t.Error("opening the file again has changed it")
	}
}

// TestMigratedGoesOn: what was acknowledged before the migration counts.
func TestMigratedGoesOn(t *testing.T) {
	f := openSchema1(t, atSchema1)
	f.update(func(tx store.Tx) error {
		a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Reason: "no"}
		disabled, err := store.RecordAttempt(tx, f.schema1IDs(tx)[2], a, nil)
		f.says("the endpoint is disabled", disabled, "false")
		return err
	})
	f.close()
	wellKept(t, f.path)
}

// TestMigratedRecover: what failed before the migration is recovered by when it
// failed. When a delivery that waits was attempted last is not known, so that
// counts always.
func TestMigratedRecover(t *testing.T) {
	soon := schema1At.Add(-2 * time.Hour).Add(32 * time.Second) // 12:01:00, before delivery 2 is due
	for since, want := range map[time.Time]string{
		soon.Add(-30 * time.Second): "1", soon.Add(-40 * time.Second): "2", soon: "1",
	} {
		f := openSchema1(t, func() time.Time { return soon })
		n, err := store.Recover(bg, f, "", "org_acme", "whe_1", since)
		must(t, err)
		f.says("recovered since "+since.Format("15:04:05"), n, want)
		f.close()
		wellKept(t, f.path)
	}
}
