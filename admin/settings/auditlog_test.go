package settings

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

const auditPath = "/orgs/org_acme/audit-log"

var entryRows = regexp.MustCompile(`(?s)<time datetime="([^"]*)"[^>]*>[^<]*</time></td>\s*<td class="first"><span class="who"><span[^>]*>[^<]*</span><span class="cut"(?: title="([^"]*)")?><bdi>[^<]*</bdi></span></span></td>\s*` +
	`<td class="third wide-2"><span class="cut"[^>]*>[^<]*(?:<(?:a|bdi) class="strong"[^>]* title="([^"]*)">[^/]*</(?:a|bdi)>)?[^<]*</span></td>\s*<td class="end desk wide"><code class="muted cut" title="([^"]*)"`)

// appendEntries appends n entries of many kinds to org_acme's audit log, some of them in
// the same millisecond.
func (w *env) appendEntries(n int) (all []store.AuditEntry) {
	w.Helper()
	pick := rand.New(rand.NewPCG(3, 4))
	at := kit.Noon.Add(-time.Duration(n) * time.Minute)
	for i := range n {
		at = at.Add(time.Duration(pick.IntN(3)) * time.Minute / 2)
		all = append(all, store.AuditEntry{
			OrgID: "org_acme", ID: fmt.Sprintf("aud_%06d", i), CreatedAt: at,
			ActorID:  []string{"", "usr_ada", "usr_alan", "<b>system", `=cmd("x")`}[pick.IntN(5)],
			Action:   []string{"member.added", "member.removed", "member", "file.uploaded", "<i>&", "-1,\"quoted\"\r\nline"}[pick.IntN(6)],
			TargetID: []string{"", "mem_1", "mem_2", "@target", "ü"}[pick.IntN(5)],
		})
	}
	w.Update(func(tx store.Tx) error {
		for _, e := range all {
			if _, err := store.AppendAudit(tx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return all
}

func TestAuditLog(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	b.get(auditPath).wants(t, 200, "No entries yet")
	w.appendEntries(60)
	r := b.get(auditPath)
	r.wants(t, 200, "Older", `title="usr_ada"><bdi>Ada</bdi>`, "added the member ", "&lt;i&gt;&amp;", "Export as CSV", `href="/settings/orgs/org_acme/audit-log/export?format=csv"`, "System")
	if strings.Contains(r.Body, "<b>") || strings.Contains(r.Body, "<i>") {
		t.Error("actors or actions are not escaped")
	}
	b.get(auditPath+"?actor=none").wants(t, 200, "No entries match", "No entry by none was found.", "Clear the filter", `value="none"`, "export?actor=none&amp;format=csv")
	b.get(auditPath+"?actor=%3Cb%3Esystem").wants(t, 200, `value="&lt;b&gt;system"`)
	b.get(auditPath+"?before=5.a").wants(t, 200, "No more entries", "Newest")
	for _, query := range []string{"since=x", "until=2026-13-01T00:00", "until=1969-12-31T23:59", "since=%3Cb%3E"} {
		name, _, _ := strings.Cut(query, "=")
		b.get(auditPath+"?actor=kept&"+query).wants(t, 400, `id="`+name+`-error"`, `aria-invalid="true" aria-describedby="`+name+`-error"`, `value="kept"`)
	}
	b.get(auditPath+"?before=x").wants(t, 400, "This page of the list does not exist")
	w.signedIn("usr_alan").get("/orgs/org_other/audit-log").wants(t, 404)
}

// auditFilters are filters of all kinds.
func auditFilters(seed uint64) (filters []url.Values) {
	pick := rand.New(rand.NewPCG(seed, 0))
	any := func(values ...string) string { return values[pick.IntN(len(values))] }
	moment := func() string {
		return kit.Noon.Add(-time.Duration(pick.IntN(600)) * time.Minute).Format("2006-01-02T15:04")
	}
	for range 24 {
		filters = append(filters, url.Values{
			"actor":  {any("", "", "usr_ada", "<b>system", `=cmd("x")`, "System")},
			"action": {any("", "", "member", "member.", "member.added", "<i>&", "-1,", "x")},
			"target": {any("", "", "", "mem_1", "ü", "mem")},
			"since":  {any("", moment(), "1970-01-01T00:00")},
			"until":  {any("", moment(), "2100-01-01T00:00:30", "1970-01-01T00:00")},
		})
	}
	return filters
}

// filteredBy are the entries that a filter shows, by a rule of its own.
func filteredBy(filter url.Values, all []store.AuditEntry) (shown []store.AuditEntry) {
	for _, e := range all {
		at := store.FormatTime(e.CreatedAt)
		actor, until := cmp.Or(e.ActorID, "System"), filter.Get("until")
		switch {
		case filter.Get("actor") != "" && filter.Get("actor") != actor,
			filter.Get("target") != "" && filter.Get("target") != e.TargetID,
			!strings.HasPrefix(e.Action, filter.Get("action")),
			at < filter.Get("since"),
			until != "" && at[:len(until)] > until: // until is inclusive
		default:
			shown = append(shown, e)
		}
	}
	return shown
}

// Whatever the filter, the pages together have the entries that it shows, latest
// first.
func TestAuditLogAgainstAModel(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	all := w.appendEntries(700)
	for _, filter := range auditFilters(1) {
		var want []string
		for _, e := range slices.Backward(filteredBy(filter, all)) {
			want = append(want, strings.Join([]string{store.FormatTime(e.CreatedAt), e.ActorID, e.TargetID, e.Action}, "|"))
		}
		got := b.walk(auditPath+"?"+filter.Encode(), entryRows)
		for i := range got { // an HTML parser ends lines with LF
			got[i] = strings.ReplaceAll(got[i], "\r\n", "\n")
		}
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "\r\n", "\n")
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%v: got %d entries %.300q, want %d %.300q", filter, len(got), got, len(want), want)
		}
	}
}

// A filter reads a bounded number of entries for a page, and goes on from there.
func TestAuditLogBounds(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	w.Update(func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: "first", CreatedAt: kit.Noon.AddDate(-1, 0, 0)})
		return err
	})
	w.appendEntries(2*maxSearched + 100)
	b.get(auditPath+"?action=first").wants(t, 200, "None of the next 2000 entries match. There are more.", "Search further back")
	got := b.walk(auditPath+"?action=first", entryRows)
	if len(got) != 1 || !strings.HasSuffix(got[0], "||first") {
		t.Errorf("got %v", got)
	}
}
