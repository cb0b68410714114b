package settings

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store"
)

const exportPath = auditPath + "/export?format="

// readJSONLines are the entries of an export as JSON Lines.
func readJSONLines(t testing.TB, body string) (entries []store.AuditEntry) {
	t.Helper()
	for d := json.NewDecoder(strings.NewReader(body)); d.More(); {
		e := store.AuditEntry{OrgID: "org_acme"}
		if err := d.Decode(&e); err != nil {
			t.Fatalf("%v in %.300q", err, body)
		}
		entries = append(entries, e)
	}
	return entries
}

// readCSV are the entries of an export as CSV, whose line breaks inside of a value
// the reader changes.
func readCSV(t testing.TB, body string) (entries []store.AuditEntry) {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || strings.Join(records[0], ",") != "createdAt,id,actorId,action,targetId" {
		t.Fatalf("%v in %.300q", err, body)
	}
	for _, r := range records[1:] {
		at, err := store.ParseTime(r[0])
		kit.Must(t, err)
		entries = append(entries, store.AuditEntry{OrgID: "org_acme", CreatedAt: at, ID: r[1], ActorID: r[2], Action: r[3], TargetID: r[4]})
	}
	return entries
}

// asCSVHas are entries as a reader of the CSV has them: what looks like a formula
// has an apostrophe.
func asCSVHas(entries []store.AuditEntry) []store.AuditEntry {
	entries = slices.Clone(entries)
	for i := range entries {
		for _, text := range []*string{&entries[i].ActorID, &entries[i].Action, &entries[i].TargetID} {
			if *text = strings.ReplaceAll(*text, "\r\n", "\n"); *text != "" && strings.ContainsRune("=+-@", rune((*text)[0])) {
				*text = "'" + *text
			}
		}
	}
	return entries
}

// withoutExports are entries without those that earlier exports left.
func withoutExports(entries []store.AuditEntry) []store.AuditEntry {
	return slices.DeleteFunc(entries, func(e store.AuditEntry) bool { return e.Action == "auditLog.exported" })
}

// An export has what the filter shows, oldest first, in both formats.
func TestAuditExport(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_ada")
	empty := b.get(exportPath + "csv")
	empty.wants(t, 200)
	if len(readCSV(t, empty.Body)) != 0 || len(withoutExports(readJSONLines(t, b.get(exportPath+"jsonl").Body))) != 0 {
		t.Errorf("nothing is exported as %q", empty.Body)
	}
	all := w.appendEntries(2*exportChunk + 300)
	for _, filter := range append(auditFilters(2), url.Values{}) {
		want := filteredBy(filter, all)
		if got := withoutExports(readJSONLines(t, b.get(exportPath+"jsonl&"+filter.Encode()).Body)); !slices.Equal(got, want) {
			t.Fatalf("%v: got %d entries as JSON Lines, want %d", filter, len(got), len(want))
		}
		if got := withoutExports(readCSV(t, b.get(exportPath+"csv&"+filter.Encode()).Body)); !slices.Equal(got, asCSVHas(want)) {
			t.Fatalf("%v: got %d entries as CSV, want %d", filter, len(got), len(want))
		}
	}
	h := b.get(exportPath + "csv").Header
	if h.Get("Content-Type") != "text/csv; charset=utf-8; header=present" ||
		h.Get("Content-Disposition") != `attachment; filename="audit-log-org_acme-20261006-120000.csv"` || h.Get("Cache-Control") != "no-store" {
		t.Errorf("%v", h)
	}
}

func TestAuditExportRefuses(t *testing.T) {
	w := newEnv(t)
	b := w.signedIn("usr_alan")
	for path, status := range map[string]int{
		auditPath + "/export": 400, exportPath + "xml": 400, exportPath + "csv&since=x": 400, "/orgs/org_other/audit-log/export?format=csv": 404,
	} {
		r := b.get(path)
		r.wants(t, status, "<h1>")
		if r.Header.Get("Content-Disposition") != "" || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %v", path, r.Header)
		}
	}
	if r := w.newBrowser().get(exportPath + "csv"); r.Status != 303 {
		t.Errorf("somebody who is not signed in got %d", r.Status)
	}
	if r := b.do(http.MethodHead, exportPath+"csv", nil); r.Status != 200 || r.Body != "" {
		t.Errorf("HEAD: %d %q", r.Status, r.Body)
	}
}

// manyEntries is an audit log that no socket's buffers hold.
const manyEntries = 5000

func (w *env) appendManyEntries() {
	w.Helper()
	long := strings.Repeat("😀", 200)
	w.Update(func(tx store.Tx) error {
		for range manyEntries {
			if _, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", ActorID: long, Action: long, TargetID: long}); err != nil {
				return err
			}
		}
		return nil
	})
}

// startExport starts an export of which the first byte was read.
func (b *browser) startExport() *http.Response {
	b.Helper()
	res, err := b.client.Get(b.server.URL + Path + exportPath + "jsonl")
	kit.Must(b, err)
	b.Cleanup(func() { res.Body.Close() })
	if _, err := io.ReadFull(res.Body, make([]byte, 1)); err != nil {
		b.Fatal(err)
	}
	return res
}

// What happens while a long export runs.
func TestAuditExportOfMuch(t *testing.T) {
	w := newEnv(t)
	w.appendManyEntries()
	t.Run("what is appended is not part of it", w.exportHasAnEnd)
	t.Run("who may not see the rest gets no file that looks whole", w.exportEndsWithTheRole)
	t.Run("a client that goes away ends it", w.exportEndsWithItsClient)
}

func (w *env) exportHasAnEnd(t *testing.T) {
	res := w.signedIn("usr_ada").startExport()
	w.Update(func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, store.AuditEntry{OrgID: "org_acme", Action: "later"})
		return err
	})
	body, err := io.ReadAll(res.Body)
	if err != nil || bytes.Contains(body, []byte("later")) || bytes.Count(body, []byte("\n")) != manyEntries {
		t.Errorf("%v, %d lines", err, bytes.Count(body, []byte("\n")))
	}
}

func (w *env) exportEndsWithTheRole(t *testing.T) {
	res := w.signedIn("usr_alan").startExport()
	role := store.RoleMember
	w.Update(func(tx store.Tx) error {
		_, err := store.ChangeMember(tx, "usr_ada", "org_acme", "usr_alan", store.MemberChange{Role: &role})
		return err
	})
	if n, err := io.Copy(io.Discard, res.Body); err == nil {
		t.Errorf("%d bytes more, and then the file's end", n)
	}
}

func (w *env) exportEndsWithItsClient(t *testing.T) {
	var written atomic.Int64
	w.wrapped(func(next http.Handler, rw http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(counting{rw, &written}, r)
	})
	w.signedIn("usr_ada").startExport().Body.Close()
	w.server.Close() // waits for the handler
	if whole := int64(manyEntries * 2400); written.Load() >= whole {
		t.Errorf("%d bytes were written to nobody", written.Load())
	}
}

// counting counts what a handler wrote.
type counting struct {
	http.ResponseWriter
	n *atomic.Int64
}

func (c counting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.n.Add(int64(n))
	return n, err
}

func (c counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }

// wrapped puts something around the settings page.
func (w *env) wrapped(wrap func(next http.Handler, rw http.ResponseWriter, r *http.Request)) {
	next := w.server.Config.Handler
	w.server = httptest.NewTLSServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) { wrap(next, rw, r) }))
	w.Cleanup(w.server.Close)
}

// Each chunk has a deadline of its own, however long the export as a whole takes.
func TestAuditExportOutlivesTheServersDeadline(t *testing.T) {
	w := newEnv(t)
	w.appendEntries(10)
	w.wrapped(func(next http.Handler, rw http.ResponseWriter, r *http.Request) {
		http.NewResponseController(rw).SetWriteDeadline(time.Now().Add(-time.Hour))
		next.ServeHTTP(rw, r)
	})
	b := w.signedIn("usr_ada")
	if n := len(readJSONLines(t, b.get(exportPath+"jsonl").Body)); n != 10 {
		t.Errorf("%d entries", n)
	}
	if res, err := b.client.Get(b.server.URL + Path + auditPath); err == nil {
		res.Body.Close()
		t.Error("the server has no deadline")
	}
}

func TestCSVText(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "plain": "plain", `a"b`: `a""b`, "a,b": "a,b", "a\r\nb": "a\r\nb", "ü😀": "ü😀", " =1": " =1", "a=1": "a=1", "'": "'",
		"=1+1": "'=1+1", "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "\t=1": "'\t=1", "\r=1": "'\r=1", `="a"`: `'=""a""`,
	} {
		if got := csvText(value); got != want {
			t.Errorf("%q became %q, want %q", value, got, want)
		}
	}
}

// FuzzCSV holds a line to what a reader of CSV makes of it.
func FuzzCSV(f *testing.F) {
	f.Add("usr_ada", "member.added", "mem_1")
	f.Add("=1", "a\"b,c\r\n", "\n")
	f.Fuzz(func(t *testing.T, actor, action, target string) {
		line := csvHeader + string(appendCSV(nil, store.AuditEntry{ID: "aud_1", CreatedAt: kit.Noon, ActorID: actor, Action: action, TargetID: target}))
		r := csv.NewReader(strings.NewReader(line))
		records, err := r.ReadAll()
		if err != nil || len(records) != 2 || len(records[1]) != 5 {
			t.Fatalf("%q: %q, %v", line, records, err)
		}
		for i, value := range []string{actor, action, target} {
			got := records[1][i+2]
			if got != strings.ReplaceAll(value, "\r\n", "\n") && got != "'"+strings.ReplaceAll(value, "\r\n", "\n") {
				t.Errorf("%q became %q", value, got)
			}
			if got != "" && strings.Contains("=+-@\t\r", got[:1]) {
				t.Errorf("%q is a formula", got)
			}
		}
	})
}
