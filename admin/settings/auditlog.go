package settings

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

type auditPage struct {
	Filter auditFilter
	Err    *store.Error // nil: nothing is wrong with the filter
	Found  searchResult[store.AuditEntry]
	Rows   []auditRow
	Actors []person // who can be chosen in the filter
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
	err := r.View(func(tx store.Tx) error {
		before, err := cursorOf(query.Get("before"))
		if err == nil {
			err = r.findActors(tx, &p)
		}
		if err == nil {
			err = p.Filter.parse(r, tx)
		}
		if err == nil {
			err = r.findEntries(tx, before, &p)
		}
		return err
	})
	if err != nil {
		return r.OnForm(err, func(status int, e *store.Error) error {
			p.Err = e
			return r.Render(status, "auditlog", p)
		})
	}
	return r.Render(200, "auditlog", p)
}

func (r *request) findEntries(tx store.Tx, before store.Cursor, p *auditPage) (err error) {
	if until := cursorAt(p.Filter.Until); before.IsZero() || !until.IsZero() && until.Compare(before) < 0 {
		before = until
	}
	p.Found, err = search(before, r.readEntriesBack(tx, p.Filter), entryPosition, p.Filter.match)
	p.Next = p.Found.nextPath(p.Path, "before", p.Filter.query()...)
	for _, e := range p.Found.Items {
		if err != nil {
			return err
		}
		var row auditRow
		row, err = r.auditRow(tx, e)
		p.Rows = append(p.Rows, row)
	}
	return err
}

// maxActors is among how many people the filter offers a choice. Anybody else's
// entries are shown by a link on the name.
const maxActors = 100

// findActors offers the system, the org's owners and admins, and who is chosen now.
func (r *request) findActors(tx store.Tx, p *auditPage) error {
	p.Actors = []person{{ID: systemActor, Name: "System"}}
	managers, err := tx.Managers(r.Org.ID)
	if err != nil {
		return err
	}
	chosen := p.Filter.Actor == "" || p.Filter.Actor == systemActor
	for _, m := range managers[:min(len(managers), maxActors)] {
		p.Actors = append(p.Actors, r.memberAsPerson(m))
		chosen = chosen || m.UserID == p.Filter.Actor
	}
	if !chosen {
		other, err := r.person(tx, p.Filter.Actor)
		p.Actors = append(p.Actors, other)
		return err
	}
	return nil
}

// readEntriesBack reads the org's audit log, newest first, back to the start of the
// filter.
func (r *request) readEntriesBack(tx store.Tx, f auditFilter) func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
	return func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
		page, err := tx.AuditPageBefore(r.Org.ID, before, limit, []byte{'['})
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

// systemActor stands for the system in a filter, whose entries have no actor.
const systemActor = "System"

// auditFilter selects the entries of the audit log that are shown or exported.
type auditFilter struct {
	Actor     string // user id of who did it, or systemActor; empty: anybody
	Action    string // prefix of the action
	Target    string // id, or part of the name, of what it was done to; empty: anything
	Time      string // one of periods; or "between", if a bound is given; or empty
	SinceText string // as in the form
	UntilText string

	Since   time.Time // of the first entry; zero: no bound
	Until   time.Time // after the last entry; zero: no bound
	targets []string  // ids that Target means
}

// auditFilterOf is the filter of a query, before parse. Bounds count unless a span
// is chosen.
func auditFilterOf(query url.Values) auditFilter {
	f := auditFilter{Actor: query.Get("actor"), Action: query.Get("action"), Target: query.Get("target")}
	if periods[query.Get("time")] > 0 {
		f.Time = query.Get("time")
		return f
	}
	f.SinceText, f.UntilText = query.Get("since"), query.Get("until")
	if f.SinceText != "" || f.UntilText != "" {
		f.Time = "between"
	}
	return f
}

// query is the filter as withQuery takes it.
func (f auditFilter) query() []string {
	span := f.Time
	if span == "between" {
		span = ""
	}
	return []string{"actor", f.Actor, "action", f.Action, "target", f.Target, "time", span, "since", f.SinceText, "until", f.UntilText}
}

// Any reports whether the filter is not empty.
func (f auditFilter) Any() bool { return withQuery("", f.query()...) != "" }

// Actions are those that the filter offers: all of the program, which are more than
// fit into a list of choices.
func (auditFilter) Actions() []string { return slices.Sorted(maps.Keys(sentences)) }

// parse reads the times in the reader's zone, and finds what the target means.
func (f *auditFilter) parse(r *request, tx store.Tx) (err error) {
	if f.Since, err = parseSince("since", f.SinceText, r.zone(), r.Now); err != nil {
		return err
	}
	if f.Until, err = parseUntil("until", f.UntilText, r.zone(), r.Now); err != nil {
		return err
	}
	if span := periods[f.Time]; span > 0 {
		f.Since = r.Now.Add(-span)
	}
	if f.Target != "" {
		f.targets, err = r.targetsNamed(tx, f.Target)
	}
	return err
}

// maxKeysNamed is in how many of the org's API keys a name is searched for.
const maxKeysNamed = 1000

// targetsNamed are the ids that a text means: itself, endpoints with it in the URL,
// API keys with it in the name, and the membership of a user id.
func (r *request) targetsNamed(tx store.Tx, text string) ([]string, error) {
	ids, has := []string{text}, containsFold(text)
	endpoints, err := tx.Endpoints(r.Org.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range endpoints {
		if has(e.URL) {
			ids = append(ids, e.ID)
		}
	}
	keys, err := tx.APIKeys(r.Org.ID, "", maxKeysNamed)
	for _, k := range keys {
		if has(k.Name) {
			ids = append(ids, k.ID)
		}
	}
	if err != nil || !store.ValidID(text) {
		return ids, err
	}
	m, err := tx.Member(r.Org.ID, text)
	if store.IsNotFound(err) {
		return ids, nil
	}
	return append(ids, m.ID), err
}

// containsFold reports whether a text contains another, whatever its case.
func containsFold(part string) func(text string) bool {
	part = strings.ToLower(part)
	return func(text string) bool { return strings.Contains(strings.ToLower(text), part) }
}

// match reports whether an entry matches the filter.
func (f auditFilter) match(e store.AuditEntry) bool {
	actor := e.ActorID
	if actor == "" {
		actor = systemActor
	}
	return (f.Actor == "" || actor == f.Actor) && (f.Target == "" || slices.Contains(f.targets, e.TargetID)) &&
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
