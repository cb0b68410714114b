package boltstore

import (
	"fmt"
	"testing"
	"time"

	"teamdata/store"
)

// The last teamdata that wrote schema 3 made testdata/schema3.db.gz; then it was
// compacted. It has the orgs org_acme and org_acme-2, of which usr_ada owns both,
// and usr_bob and usr_gone are admins of the second; usr_gone was removed from the
// first. From 12:00 on something was sent to endpoint 1, of org_acme, 2, of
// org_acme-2, and 3, of org_acme, which was removed. There is something in each
// bucket.
var schema2Hour, schema3Hour = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), time.Date(2026, 11, 21, 13, 0, 0, 0, time.UTC)

func TestMigrateFrom3(t *testing.T) {
	f := unzip(t, "schema3.db.gz")
	before := dumpFile(t, f.path)
	f.open(Options{NoSync: true})
	after := f.dump()
	f.close()
	wellKept(t, f.path)
	before += managedLine("usr_ada", "org_acme") + managedLine("usr_ada", "org_acme-2") +
		managedLine("usr_bob", "org_acme-2") + managedLine("usr_gone", "org_acme-2") +
		countsLine(schema2Hour, "org_acme", 1, store.DeliveryCounts{Retrying: 1}) +
		countsLine(schema3Hour, "org_acme", 1, store.DeliveryCounts{Acknowledged: 2, Latency: [8]int{1: 1, 7: 1}}) +
		countsLine(schema3Hour, "org_acme", 3, store.DeliveryCounts{Acknowledged: 1, Latency: [8]int{3: 1}}) +
		countsLine(schema3Hour, "org_acme-2", 2, store.DeliveryCounts{Retrying: 1, Failed: 1})
	f.says("what is in the file", sortLines(after), sortLines(ofToday(before, 3)))
}

func managedLine(user, org string) string {
	return fmt.Sprintf("managedOrgs %q = \"\"\n", orgKey(user, org))
}

func countsLine(hour time.Time, org string, endpoint uint64, c store.DeliveryCounts) string {
	return fmt.Sprintf("deliveryCounts %q = %q\n", countsKey(hour, org, endpoint), encode(countsFields(&c)))
}

// TestMigratedFrom3GoesOn: those who managed before the migration get accounts,
// which go with their roles; later attempts are counted with the earlier ones.
func TestMigratedFrom3GoesOn(t *testing.T) {
	f := unzip(t, "schema3.db.gz")
	f.open(Options{NoSync: true, Now: func() time.Time { return schema3Hour.Add(time.Minute) }})
	member := store.RoleMember
	f.update(func(tx store.Tx) error {
		_, token, err := store.CreateSignInLink(tx, "org_acme-2", "usr_gone", time.Hour)
		must(t, err)
		_, err = store.UseSignInLink(tx, token, "$argon2id$")
		must(t, err)
		_, err = store.ChangeMember(tx, "usr_ada", "org_acme-2", "usr_gone", store.MemberChange{Role: &member})
		must(t, err)
		_, err = tx.Account("usr_gone")
		f.says("the account of who manages no more", store.CodeOf(err), "notFound")
		held, _, err := tx.DeliveryPage(1, store.ListWaiting, store.Cursor{}, 1)
		must(t, err)
		_, err = store.RecordAttempt(tx, held[0].ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}, nil)
		return err
	})
	f.view(func(tx store.Tx) error {
		text := ""
		err := tx.EachDeliveryCounts("org_acme", schema3Hour, func(endpoint uint64, hour time.Time, c store.DeliveryCounts) {
			text += fmt.Sprint(endpoint, hour.Hour(), c, "; ")
		})
		f.says("counts of 13:00", text, "1 13 {3 0 0 [1 1 0 0 0 0 0 1]}; 3 13 {1 0 0 [0 0 0 1 0 0 0 0]}; ")
		return err
	})
	f.close()
	wellKept(t, f.path)
}
