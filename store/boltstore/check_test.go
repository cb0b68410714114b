package boltstore

import (
	"bytes"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// wellKept holds a closed file to Check.
func wellKept(t testing.TB, path string) {
	t.Helper()
	if err := Check(path, func(fault string) { t.Error(fault) }); err != nil {
		t.Error(err)
	}
}

// TestCheckNotices keeps the check itself honest.
func TestCheckNotices(t *testing.T) {
	for _, bucket := range [][]byte{bucketDeliveryLists, bucketDeliveries, bucketEvents, bucketEndpointNumbers, bucketManagers, bucketMemberList} {
		t.Run(string(bucket), func(t *testing.T) {
			f := newFixture(t, Options{NoSync: true})
			f.update(func(tx store.Tx) error {
				if _, err := store.SendTest(tx, testOrg, "whe_1"); err != nil {
					return err
				}
				_, err := store.ImportMember(tx, store.Member{OrgID: testOrg, UserID: "usr_1", Role: store.RoleOwner})
				return err
			})
			noticed := false
			must(t, f.db.Update(func(tx *bbolt.Tx) error {
				first, _ := tx.Bucket(bucket).Cursor().First()
				must(t, tx.Bucket(bucket).Delete(bytes.Clone(first)))
				checkAll(tx, func(fault string) {
					t.Log(fault)
					noticed = true
				})
				return nil
			}))
			if !noticed {
				t.Error("an entry was lost, and the check says nothing")
			}
		})
	}
}
