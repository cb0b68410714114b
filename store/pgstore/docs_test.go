package pgstore

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
)

// docs are the blocks below a heading of a page in docs.
func docs(t *testing.T, page, heading string) (blocks []string) {
	t.Helper()
	_, section, _ := strings.Cut(kit.ReadText(t, "../../docs/"+page), "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for _, block := range regexp.MustCompile("(?s)```\\w*\n(.*?)```").FindAllStringSubmatch(section, -1) {
		blocks = append(blocks, block[1])
	}
	if len(blocks) == 0 {
		t.Fatalf("%s has nothing to paste below %q", page, heading)
	}
	return blocks
}

// Roles, rights and dumps work as one would paste them from the pages.
func TestDocs(t *testing.T) {
	server := postgres.Start(t)
	server.Exec(t, "DROP ROLE teamdata")
	server.Shell(t, docs(t, "postgresql.md", "Role and database")[0], secret+"\n"+secret+"\n")
	remote := strings.Replace(server.TCP("teamdata"), postgres.Password, secret, 1)
	kit.Must(t, pooled(t, remote).prepare(t.Context(), steps(2, 1, 1), upgrading))

	server.Exec(t, "CREATE DATABASE shared")
	rights := docs(t, "postgresql.md", "Rights")
	postgres.Exec(t, server.URL("postgres", "shared"), rights[0])
	if err := pooled(t, server.URL("teamdata", "shared")).prepare(t.Context(), steps(2, 1, 1), upgrading); err != nil {
		t.Error(err)
	}
	postgres.Exec(t, server.URL("postgres", "teamdata"), rights[1])
	reports := pooled(t, server.URL("reports", "teamdata"))
	if err := reports.prepare(t.Context(), steps(2, 1, 1), reading); err != nil {
		t.Error(err)
	}
	checkRefusal(t, reports.prepare(t.Context(), steps(2, 1, 1), upgrading), "create tables")

	for _, script := range docs(t, "postgresql-operations.md", "Backup") {
		server.Shell(t, script, "", fmt.Sprintf("DATABASE=%s", server.URL("teamdata", "teamdata")))
	}
	restored := server.URL("teamdata", "restored")
	if err := pooled(t, restored).prepare(t.Context(), steps(2, 1, 1), upgrading); err != nil {
		t.Error(err)
	}
	if got, want := contents(t, restored), contents(t, server.URL("teamdata", "teamdata")); got != want {
		t.Errorf("restored is %s, not %s", got, want)
	}
}

// The views of docs/postgresql.md show members and the audit log in columns, whatever their
// texts are, to a role that sees nothing else.
func TestReportViews(t *testing.T) {
	server := postgres.Start(t)
	database := server.Database(t)
	s := opened(t, database)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	kit.Must(t, s.Update(bg, store.All, func(r store.Tx) error {
		_, errMember := r.AppendMember(store.Member{OrgID: "org_1", ID: "mem_1", UserID: "usr_1", Role: "röle \"\\u0000", CreatedAt: at})
		_, errAudit := r.AppendAudit(store.AuditEntry{OrgID: "org_1", ID: "aud_1", ActorID: "a\x00\\\x00\\\\u0000", Action: "org.seen", CreatedAt: at})
		_, errOperator := r.AppendAudit(store.AuditEntry{ID: "aud_2", Action: "é", TargetID: "t", CreatedAt: at})
		return errors.Join(errMember, errAudit, errOperator)
	}))
	kit.Must(t, s.Close())
	postgres.Exec(t, server.URL("postgres", postgres.Name(t, database)), docs(t, "postgresql.md", "Rights")[2])
	auditor := server.URL("auditors", postgres.Name(t, database))
	const columns = "created_at AT TIME ZONE 'UTC'"
	for sql, want := range map[string]string{
		"SELECT org_id, id, user_id, role, " + columns + " FROM members_report":                                            "[[org_1 mem_1 usr_1 röle \"\\u0000 2026-01-02 03:04:05.006]]",
		"SELECT org_id, id, actor_id, action, target_id, " + columns + " FROM audit_log_report WHERE actor_id IS NOT NULL": "[[org_1 aud_1 a\uFFFD\\\uFFFD\\\\u0000 org.seen  2026-01-02 03:04:05.006]]",
		"SELECT org_id, id, action, target_id, " + columns + " FROM audit_log_report WHERE actor_id IS NULL":               "[[ aud_2 é t 2026-01-02 03:04:05.006]]",
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' ORDER BY 1":                        "[[audit_log_report] [members_report]]",
	} {
		if got := fmt.Sprint(postgres.Exec(t, auditor, sql)); got != want {
			t.Errorf("%s: %s, and not %s", sql, got, want)
		}
	}
}

// The queries of docs/postgresql-operations.md answer what they say, to a role that only reads.
func TestQueriesInDocs(t *testing.T) {
	server := postgres.Start(t)
	database := server.Database(t)
	s := opened(t, database)
	at := time.Date(2026, 1, 2, 3, 4, 5, 6e6, time.UTC)
	kit.Must(t, s.Update(bg, store.All, func(r store.Tx) error {
		_, errOrg := store.ImportOrg(r, store.Org{ID: "org_1", Name: "One"})
		err := errOrg
		for i, id := range []string{"usr_1", "usr_2", "usr_3"} {
			_, errMember := r.AppendMember(store.Member{OrgID: "org_1", UserID: id, Role: []string{"owner", "guest"}[i%2]})
			err = errors.Join(err, errMember)
		}
		_, errIdle := store.ImportEndpoint(r, store.Endpoint{OrgID: "org_1", ID: "whe_1", URL: "https://receiver.example/", Events: []string{store.AllEvents}})
		busy, errBusy := store.ImportEndpoint(r, store.Endpoint{OrgID: "org_1", ID: "whe_2", URL: "https://receiver.example/", Events: []string{store.AllEvents}})
		err = errors.Join(err, errIdle, errBusy)
		for i, state := range []store.DeliveryState{store.StatePending, store.StateRetrying, store.StateFailed, store.StateAcknowledged} {
			event := fmt.Sprint("evt_", i)
			d := store.Delivery{ID: fmt.Sprint("whd_", i), EventID: event, OrgID: "org_1", EndpointID: busy.ID, EndpointNumber: busy.Number, State: state, DueAt: at.Add(-time.Duration(i) * time.Second), FinishedAt: at}
			err = errors.Join(err, r.AddEvent(store.Event{ID: event, OrgID: "org_1", Deliveries: []string{d.ID}}, []store.Delivery{d}))
		}
		return err
	}))
	kit.Must(t, s.Close())
	postgres.Exec(t, server.URL("postgres", postgres.Name(t, database)), docs(t, "postgresql.md", "Rights")[1])
	reports := server.URL("reports", postgres.Name(t, database))
	queries := docs(t, "postgresql-operations.md", "Queries")
	for i, want := range []string{
		"[[org_1 guest 1] [org_1 owner 2]]",
		"[[org_1 whe_2 2 2026-01-02 03:04:04.006+00 whd_1]]",
		"[[acknowledged 1] [failed 1] [waiting 2]]",
	} {
		if got := fmt.Sprint(postgres.Exec(t, reports, "SET timezone = 'UTC'; "+queries[i])); got != want {
			t.Errorf("%s: %s, and not %s", queries[i], got, want)
		}
	}
	var kinds []string
	for _, r := range postgres.Exec(t, reports, queries[3]) {
		kinds = append(kinds, r[0])
	}
	if len(queries) != 4 || !slices.Contains(kinds, "idempotency") || !slices.Contains(kinds, "deliveries") || slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(kind, "idempotency_") }) {
		t.Errorf("%d queries; the sizes are those of %q", len(queries), kinds)
	}
}
