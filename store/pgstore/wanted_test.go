package pgstore

import (
	"fmt"
	"testing"

	"teamdata/store"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// What several updates read is read once. Then it is known what is there of it, and what
// is not: of the orgs and of all their endpoints, but not of those whose deliveries alone
// are written.
func TestWanted(t *testing.T) {
	var group []*engine.Update
	for _, scope := range []store.Scope{
		store.InOrg("org_b"), {Orgs: []string{"org_a", "org_b"}, Users: []string{"usr_1"}}, store.InOrg("org_a"),
		{Orgs: []string{"org_c"}, Fence: store.Fence{Endpoint: 1, Token: 1}},
	} {
		group = append(group, &engine.Update{Scope: scope})
	}
	named, o := aheadOf(group, false), newOverlay()
	got := ""
	for i := range named.wanted {
		w := &named.wanted[i]
		got += fmt.Sprintf("%s: %d keys, %d ranges, %d queries\n", w.name, len(w.keys), len(w.ranges), len(w.reads(o)))
	}
	const want = `plans: 0 keys, 1 ranges, 1 queries
orgs: 2 keys, 0 ranges, 1 queries
endpoints: 0 keys, 2 ranges, 1 queries
last_removed: 2 keys, 0 ranges, 1 queries
accounts: 1 keys, 0 ranges, 1 queries
members: 2 keys, 0 ranges, 1 queries
last_acknowledged: 1 keys, 0 ranges, 1 queries
`
	if got != want {
		t.Errorf("read is\n%snot\n%s", got, want)
	}
	for _, key := range []string{"org_b\x00whe_2", "org_a\x00whe_1", "org_b\x00whe_1"} {
		o.loaded(kindTable("endpoints"), row{[]byte(key)}, row{[]byte(key), nil, nil, {}})
	}
	named.absent(o)
	for org, want := range map[string]string{"org_a": "[org_a\x00whe_1]", "org_b": "[org_b\x00whe_1 org_b\x00whe_2]", "org_c": "unknown"} {
		found, known := o.inRange(kindTable("endpoints"), rows.Range{Index: rows.ByKey, Bounds: rows.Below(org, "")})
		got := fmt.Sprint(firstTexts(found))
		if !known {
			got = "unknown"
		}
		if got != want {
			t.Errorf("the endpoints of %s are %s, not %s", org, got, want)
		}
		if found, known := o.row(kindTable("orgs"), []byte(org)); found != nil || known != (org != "org_c") {
			t.Errorf("the org %s is known: %t", org, known)
		}
	}
	if _, known := o.row(kindTable("endpoints"), []byte("org_a\x00whe_new")); !known {
		t.Error("it is not known that an endpoint is not there")
	}
}
