package admin

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

// Each filter selects its entries, at any size of page, and a target is found by the names
// of what it may be.
func TestAuditFilters(t *testing.T) {
	env := newTestEnv(t)
	at := kit.Noon.Add(-time.Hour)
	env.Update(func(tx store.Tx) error {
		for i, entry := range []string{
			"member.added usr_ada mem_2", "member.removed usr_ada usr_bob", "member - mem_1", "key.created usr_bob key_1",
			"endpoint.changed usr_bob whe_1", "x System -", "member.added usr_bob usr_ada",
		} {
			var e store.AuditEntry
			fmt.Sscan(entry, &e.Action, &e.ActorID, &e.TargetID)
			e.ActorID, e.TargetID = strings.TrimPrefix(e.ActorID, "-"), strings.TrimPrefix(e.TargetID, "-")
			e.OrgID, e.ID, e.CreatedAt = "org_acme", fmt.Sprint("e", i), at.Add(time.Duration(i)*time.Minute)
			if _, err := store.AppendAudit(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	for query, want := range map[string]string{
		"":                           "[aud_1 e0 e1 e2 e3 e4 e5 e6]",
		"actor=usr_ada":              "[aud_1 e0 e1]",
		"actor=System":               "[e2 e5]",
		"actor=usr":                  "[]",
		"action=member":              "[e0 e1 e2 e6]",
		"action=member.":             "[e0 e1 e6]",
		"action=Member":              "[]",
		"target=mem_1":               "[e2]",
		"target=usr_ada":             "[e2 e6]", // and the membership
		"target=aDa":                 "[e2 e6]",
		"target=reader":              "[e3]",
		"target=acme.example":        "[e4]",
		"target=nobody":              "[]",
		"since=2026-10-06T11:05:00Z": "[e5 e6]",
		"until=2026-10-06T11:00:00Z": "[aud_1]",
		"since=2026-10-06T11:01:00.001Z&until=2026-10-06T11:03:00Z": "[e2]",
		"since=2030-01-01T00:00:00Z":                                "[]",
		"actor=usr_bob&action=member.&target=usr_ada":               "[e6]",
	} {
		for _, limit := range []int{1, 2, 3, 100} {
			got := fmt.Sprint(env.walk("/orgs/org_acme/audit-log?"+query, "id", limit))
			equal(t, fmt.Sprintf("%s by %d", query, limit), got, want)
		}
	}
	for _, query := range []string{"actor=", "target=", "since=x", "until=2026-13-01T00:00:00Z", "action=" + strings.Repeat("a", 201), "actor=a&actor=b"} {
		name, _, _ := strings.Cut(query, "=")
		env.wantError(env.do("GET", "/orgs/org_acme/audit-log?"+query, ""), store.CodeBadRequest, name+": ")
		env.wantError(env.do("GET", "/audit-log?"+query, ""), store.CodeBadRequest, name+": ")
	}
	env.wantError(env.do("GET", "/orgs/org_acme/audit-log?since=2026-01-02T00:00:00Z&until=2026-01-01T00:00:00Z", ""), store.CodeBadRequest, "until: must not be before since")
}

// A page of a filter reads a bounded number of entries, and says how far it has searched: a
// follower continues from there, and doesn't search twice.
func TestAuditFilterIsBounded(t *testing.T) {
	env := newTestEnv(t)
	env.Update(func(tx store.Tx) error {
		for i := range 2500 {
			e := store.AuditEntry{OrgID: "org_other", ID: fmt.Sprint("e", i), Action: "often", CreatedAt: kit.Noon.Add(time.Duration(i-2500) * time.Second)}
			if i == 2100 {
				e.Action = "rare"
			}
			if _, err := store.AppendAudit(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	next := func(i int) string {
		return store.CursorOf(kit.Noon.Add(time.Duration(i-2500)*time.Second), fmt.Sprint("e", i)).String()
	}
	const path = "/orgs/org_other/audit-log?action=rare"
	env.wantAnswer(env.do("GET", path, ""), 200, `{"data":[],"next":"`+next(999)+`","hasMore":true}`)
	env.wantAnswer(env.do("GET", path+"&after="+next(999), ""), 200, `{"data":[],"next":"`+next(1999)+`","hasMore":true}`)
	env.wantAnswer(env.do("GET", path+"&after="+next(1999), ""), 200, `{"data":[{"id":"e2100"{{*}}],"next":"`+next(2499)+`","hasMore":false}`)
	env.wantAnswer(env.do("GET", path+"&after="+next(2499), ""), 200, `{"data":[],"next":"`+next(2499)+`","hasMore":false}`)
	env.wantAnswer(env.do("GET", "/audit-log?action=rare", ""), 200, `{"data":[],"next":null,"hasMore":false}`)
	env.wantError(env.do("GET", "/audit-log-ends?limit=1001", ""), store.CodeBadRequest, "limit: must be a whole number from 1 to 1000")
}
