package settings

import (
	"encoding/json"
	"net/url"
	"strings"
	"time"

	"teamdata/store"
)

type auditPage struct {
	Filter auditFilter
	Err    *store.Error // nil: nothing is wrong with the filter
	Found  searchResult[store.AuditEntry]
	Path   string
	Next   string // path of the next page; empty: this is the last
	First  bool
}

// LatestPath is the path of the first page.
func (p auditPage) LatestPath() string { return withQuery(p.Path, p.Filter.query()...) }

// ExportPath is the path of the export with the same filter.
func (p auditPage) ExportPath(format string) string {
	return withQuery(p.Path+"/export", append(p.Filter.query(), "format", format)...)
}

func (r *request) showAuditLog() error {
	query := r.HTTP.URL.Query()
	p := auditPage{Filter: auditFilterOf(query), Path: r.path("audit-log"), First: query.Get("before") == ""}
	err := r.view(func(tx store.Tx) error {
		before, err := cursorOf(query.Get("before"))
		if err == nil {
			err = p.Filter.parse()
		}
		if err == nil {
			err = r.findEntries(tx, before, &p)
		}
		return err
	})
	if err != nil {
		return onForm(err, func(status int, e *store.Error) error {
			p.Err = e
			return r.render(status, "auditlog", p)
		})
	}
	return r.render(200, "auditlog", p)
}

func (r *request) findEntries(tx store.Tx, before store.Cursor, p *auditPage) (err error) {
	if until := cursorAt(p.Filter.Until); before.IsZero() || !until.IsZero() && until.Compare(before) < 0 {
		before = until
	}
	p.Found, err = search(before, r.readEntriesBack(tx, p.Filter), entryPosition, p.Filter.match)
	p.Next = p.Found.nextPath(p.Path, "before", p.Filter.query()...)
	return err
}

// readEntriesBack reads the org's audit log, newest first, back to the start of the
// filter.
func (r *request) readEntriesBack(tx store.AuditLog, f auditFilter) func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
	return func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
		page, err := tx.AuditPageBefore(r.org.ID, before, limit, []byte{'['})
		if err != nil {
			return nil, err
		}
		entries, err := auditEntries(page)
		for i := range entries {
			if entries[i].CreatedAt.Before(f.Since) {
				return entries[:i], nil
			}
		}
		return entries, err
	}
}

// auditEntries are the entries of a page whose items follow an opening bracket.
func auditEntries(page store.Page) (entries []store.AuditEntry, err error) {
	err = json.Unmarshal(append(page.Items, ']'), &entries)
	return entries, err
}

func entryPosition(e store.AuditEntry) store.Cursor { return store.CursorOf(e.CreatedAt, e.ID) }

// cursorOf is parseCursor for a list of records with ids.
func cursorOf(text string) (store.Cursor, error) {
	return parseCursor(text, func(at store.Cursor) bool { return store.ValidID(at.ID) })
}

// parseCursor parses the start of a page, as given by the page before; empty: the
// first page.
func parseCursor(text string, valid func(store.Cursor) bool) (at store.Cursor, err error) {
	if text == "" {
		return at, nil
	}
	at, ok := store.ParseCursor(text)
	if !ok || !valid(at) {
		return at, errNoPlace
	}
	return at, nil
}

var errNoPlace = store.Errorf(store.CodeBadRequest, "There is no such place in the list.").Advise("Begin at its start.")

// auditFilter selects the entries of the audit log that are shown or exported.
type auditFilter struct {
	Actor     string // user id of who did it; empty: anybody
	Action    string // prefix of the action
	Target    string // id of what it was done to; empty: anything
	SinceText string // as in the form
	UntilText string

	Since time.Time // of the first entry; zero: no bound
	Until time.Time // after the last entry; zero: no bound
}

// auditFilterOf is the filter of a query, before parse.
func auditFilterOf(query url.Values) auditFilter {
	return auditFilter{
		Actor: query.Get("actor"), Action: query.Get("action"), Target: query.Get("target"),
		SinceText: query.Get("since"), UntilText: query.Get("until"),
	}
}

// query is the filter as withQuery takes it.
func (f auditFilter) query() []string {
	return []string{"actor", f.Actor, "action", f.Action, "target", f.Target, "since", f.SinceText, "until", f.UntilText}
}

// Any reports whether the filter is not empty.
func (f auditFilter) Any() bool { return withQuery("", f.query()...) != "" }

// parse reads the times.
func (f *auditFilter) parse() (err error) {
	if f.Since, err = parseMinute("since", f.SinceText); err != nil {
		return err
	}
	f.Until, err = parseMinute("until", f.UntilText)
	return err
}

func parseMinute(field, text string) (time.Time, error) {
	t, ok := parseInput(text)
	if !ok && text != "" {
		return t, store.Invalid(field, "must be a date and time such as 2030-12-31T18:30, not before 1970")
	}
	return t, nil
}

// match reports whether an entry matches the filter.
func (f auditFilter) match(e store.AuditEntry) bool {
	return (f.Actor == "" || e.ActorID == f.Actor) && (f.Target == "" || e.TargetID == f.Target) &&
		strings.HasPrefix(e.Action, f.Action) && !e.CreatedAt.Before(f.Since) &&
		(f.Until.IsZero() || e.CreatedAt.Before(f.Until))
}

// cursorAt is the position before the first entry of a time; zero for the zero time.
func cursorAt(t time.Time) store.Cursor {
	if t.IsZero() {
		return store.Cursor{}
	}
	return store.CursorOf(t, " ") // before every id
}
