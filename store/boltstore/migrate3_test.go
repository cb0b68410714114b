package boltstore

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// The last teamdata that wrote schema 2 made testdata/schema2.db.gz; then it was
// compacted. It has the orgs org_acme and org_acme-2, whose keys were made in the
// order below, with key_c revoked; in each an endpoint, and in org_acme one
// delivery acknowledged, one that is tried again and one that was not attempted.
// There is something in each bucket but removedEnds.
var schema2Keys = map[string][]string{
	"org_acme":   {"key_b", "key_a", "key_c"},
	"org_acme-2": {"key", "key_z"},
}

func TestMigrateFrom2(t *testing.T) {
	f := unzip(t, "schema2.db.gz")
	before := dumpFile(t, f.path)
	f.open(Options{NoSync: true})
	f.view(func(tx store.Tx) error {
		for org, ids := range map[string]string{"org_acme": "[key_a key_b key_c]", "org_acme-2": "[key key_z]", "org_": "[]"} {
			keys, err := tx.APIKeys(org, "", 100)
			must(t, err)
			f.says("keys of "+org, keyIDs(keys), ids)
		}
		types, err := tx.EventTypes()
		f.says("event types", types, "[]")
		return err
	})
	after := f.dump()
	f.close()
	wellKept(t, f.path)
	for org, ids := range schema2Keys {
		for _, id := range ids {
			before += fmt.Sprintf("apiKeyList %q = \"\"\n", orgKey(org, id))
		}
		before += managedLine("usr_ada", org) + managedLine("usr_bob", org)
	}
	before += countsLine(schema2Hour, "org_acme", 1, store.DeliveryCounts{Acknowledged: 1, Retrying: 1, Latency: [8]int{1: 1}})
	f.says("what is in the file", sortLines(after), sortLines(ofToday(before, 2)))
}

// ofToday is the dump of a file of a schema, with today's in its place.
func ofToday(dump string, schema uint64) string {
	line := func(n uint64) string { return fmt.Sprintf("meta %q = %q", keySchema, numberKey(n)) }
	return strings.Replace(dump, line(schema), line(schemaVersion), 1)
}

// TestMigratedFrom2GoesOn: keys that were there before the migration are revoked
// and listed as all others are.
func TestMigratedFrom2GoesOn(t *testing.T) {
	f := unzip(t, "schema2.db.gz")
	f.open(Options{NoSync: true})
	f.update(func(tx store.Tx) error {
		_, _, err := store.CreateKey(tx, "usr_ada", store.APIKey{OrgID: "org_acme", ID: "key_aa", Scopes: store.ScopeRead, CreatedBy: "usr_bob"})
		must(t, err)
		return store.RevokeKey(tx, "usr_ada", "org_acme", "key_a")
	})
	f.view(func(tx store.Tx) error {
		keys, err := tx.APIKeys("org_acme", "", 2)
		f.says("the first keys", keyIDs(keys), "[key_a key_aa]")
		f.says("the first is revoked", !keys[0].RevokedAt.IsZero(), "true")
		return err
	})
	f.close()
	wellKept(t, f.path)
}

func keyIDs(keys []store.APIKey) []string {
	ids := []string{}
	for _, k := range keys {
		ids = append(ids, k.ID)
	}
	return ids
}

// dumpFile is all that a file holds that no Store has open.
func dumpFile(t *testing.T, path string) string {
	t.Helper()
	db, err := bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true})
	must(t, err)
	defer db.Close()
	f := &fixture{TB: t, Store: &Store{db: db}}
	return f.dump()
}

func sortLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
