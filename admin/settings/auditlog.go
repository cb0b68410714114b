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
	Looked int    // how many entries were searchResult at when that was Incomplete
	First  bool
}

// LatestPath is the path of the first page.
func (p auditPage) LatestPath() string { return p.Path + "?" + p.Filter.values().Encode() }

// ExportPath is the path of the export of what the filter shows.
func (p auditPage) ExportPath(format string) string {
	values := p.Filter.values()
	values.Set("format", format)
	return p.Path + "/export?" + values.Encode()
}

func (r *request) showAuditLog() error {
	query := r.HTTP.URL.Query()
	p := auditPage{Filter: auditFilterOf(query), Looked: maxSearched, First: query.Get("before") == ""}
	status := 200
	err := r.view(func(tx store.Tx) error {
		before, err := cursorOf(query.Get("before"))
		if err == nil {
			err = p.Filter.parse()
		}
		if err == nil {
			err = r.findEntries(tx, before, &p)
		}
		if e, ok := formError(err); ok {
			status, p.Err, err = e.Code.Status(), e, nil
		}
		return err
	})
	if err != nil {
		return err
	}
	p.Path = r.path("audit-log")
	return r.render(status, "auditlog", p)
}

func (r *request) findEntries(tx store.Tx, before store.Cursor, p *auditPage) (err error) {
	if until := p.Filter.end(); before.IsZero() || !until.IsZero() && until.Compare(before) < 0 {
		before = until
	}
	p.Found, err = search(before, r.readEntriesBack(tx, p.Filter), entryPosition, p.Filter.match)
	if next := p.Found.Next; !next.IsZero() {
		values := p.Filter.values()
		values.Set("before", next.String())
		p.Next = r.path("audit-log") + "?" + values.Encode()
	}
	return err
}

// readEntriesBack reads the org's audit log, latest first, back to where the filter
// begins.
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

// auditEntries are those of a page, as the list has them behind an opening
// bracket.
func auditEntries(page store.Page) (entries []store.AuditEntry, err error) {
	err = json.Unmarshal(append(page.Items, ']'), &entries)
	return entries, err
}

func entryPosition(e store.AuditEntry) store.Cursor { return store.CursorOf(e.CreatedAt, e.ID) }

// cursorOf reads where a page begins, as the page before it says; empty: at the
// start.
func cursorOf(text string) (at store.Cursor, err error) {
	if text == "" {
		return at, nil
	}
	at, ok := store.ParseCursor(text)
	if !ok || !store.ValidID(at.ID) {
		return at, errNoPlace
	}
	return at, nil
}

var errNoPlace = store.Errorf(store.CodeBadRequest, "There is no such place in the list. Begin at its start.")

// auditFilter says which entries of the audit log are shown or exported.
type auditFilter struct {
	Actor     string // who did it; empty: anybody
	Action    string // what it begins with
	Target    string // what it was done to; empty: anything
	SinceText string // as the form has it
	UntilText string

	Since time.Time // the first; zero: from the beginning
	Until time.Time // behind the last; zero: to the end
}

// auditFilterOf is the filter that a query asks for, before parse.
func auditFilterOf(query url.Values) auditFilter {
	return auditFilter{
		Actor: query.Get("actor"), Action: query.Get("action"), Target: query.Get("target"),
		SinceText: query.Get("since"), UntilText: query.Get("until"),
	}
}

// values are the filter as a query.
func (f auditFilter) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{
		"actor": f.Actor, "action": f.Action, "target": f.Target, "since": f.SinceText, "until": f.UntilText,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

// Any tells whether the filter leaves anything out.
func (f auditFilter) Any() bool { return len(f.values()) > 0 }

// parse reads the times.
func (f *auditFilter) parse() (err error) {
	if f.Since, err = parseMinute("since", f.SinceText); err != nil {
		return err
	}
	f.Until, err = parseMinute("until", f.UntilText)
	return err
}

// parseMinute reads what a datetime-local input sends, in UTC; empty: the zero
// time.
func parseMinute(field, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, text); err == nil && t.Unix() >= 0 {
			return t, nil
		}
	}
	return time.Time{}, store.Invalid(field, "must be a date and time such as 2030-12-31T18:30, not before 1970")
}

// match tells whether an entry is one that the filter shows.
func (f auditFilter) match(e store.AuditEntry) bool {
	return (f.Actor == "" || e.ActorID == f.Actor) && (f.Target == "" || e.TargetID == f.Target) &&
		strings.HasPrefix(e.Action, f.Action) && !e.CreatedAt.Before(f.Since) &&
		(f.Until.IsZero() || e.CreatedAt.Before(f.Until))
}

// end is the position behind the last entry before Until; zero without one.
func (f auditFilter) end() store.Cursor {
	if f.Until.IsZero() {
		return store.Cursor{}
	}
	return store.CursorOf(f.Until, " ") // before every id
}

// start is the position before the first entry since Since.
func (f auditFilter) start() store.Cursor {
	if f.Since.IsZero() {
		return store.Cursor{}
	}
	return store.CursorOf(f.Since, " ")
}
