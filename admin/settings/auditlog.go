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
	listPage[auditRow]
	Actors []person // who can be chosen in the filter
	path   string
}

// Nothing says in words that the filter selects no entries.
func (p auditPage) Nothing() string {
	text := "None"
	if p.Filter.Action != "" {
		text += " of " + p.Filter.Action
	}
	if p.Filter.Target != "" {
		text += " on “" + p.Filter.Target + "”"
	}
	for _, who := range p.Actors {
		if who.ID == p.Filter.Actor {
			text += " by " + who.Name
		}
	}
	return strings.TrimSpace(text+" "+periodWords[p.Filter.Time]) + "."
}

// ExportPath is the path of the export with the same filter.
func (p auditPage) ExportPath(format string) string {
	return withQuery(p.path+"/export", append(p.Filter.query(), "format", format)...)
}

func (r *request) showAuditLog() error {
	p := auditPage{Filter: auditFilterOf(r.HTTP.URL.Query()), path: r.path("audit-log")}
	return r.showFiltered("auditlog", &p, &p.Err, func(tx store.Tx) error {
		err := r.findActors(tx, &p)
		if err == nil {
			err = p.Filter.parse(r, tx)
		}
		if err == nil {
			p.listPage, err = search(r, records[store.AuditEntry, auditRow]{
				path: p.path, filter: p.Filter.query(), param: "before",
				read: r.readEntriesBack(tx, p.Filter), at: entryPosition,
				row: func(e store.AuditEntry) (row auditRow, matches bool, err error) {
					if matches = p.Filter.match(e); matches {
						row, err = r.auditRow(tx, e)
					}
					return row, matches, err
				},
			})
		}
		return err
	})
}

// maxActors is among how many people the filter offers a choice. Anybody else's
// entries are shown by a link on the name.
const maxActors = 100

// findActors offers the system, the org's owners and admins, and the actor of the filter.
func (r *request) findActors(tx store.Tx, p *auditPage) error {
	p.Actors = []person{{ID: systemActor, Name: "System"}}
	managers, err := tx.Managers(r.Org.ID)
	if err != nil {
		return err
	}
	for _, m := range managers[:min(len(managers), maxActors)] {
		p.Actors = append(p.Actors, r.memberAsPerson(m))
	}
	if id := p.Filter.Actor; id != "" && !slices.ContainsFunc(p.Actors, func(a person) bool { return a.ID == id }) {
		other, err := r.person(tx, id)
		p.Actors = append(p.Actors, other)
		return err
	}
	return nil
}

// readEntriesBack reads the org's audit log, newest first, within the bounds of a filter.
func (r *request) readEntriesBack(tx store.Tx, f auditFilter) func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
	return func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
		if until := cursorAt(f.Until); before.IsZero() || !until.IsZero() && until.Compare(before) < 0 {
			before = until
		}
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

// systemActor stands for the system in a filter, whose entries have no actor.
const systemActor = "System"

// auditFilter selects the entries of the audit log that are shown or exported.
type auditFilter struct {
	Actor  string // user id of who did it, or systemActor; empty: anybody
	Action string // prefix of the action
	Target string // id, or part of the name, of what it was done to; empty: anything
	timeRange

	targets []string // ids that Target means
}

// auditFilterOf is the filter of a query, before parse.
func auditFilterOf(query url.Values) auditFilter {
	return auditFilter{Actor: query.Get("actor"), Action: query.Get("action"), Target: query.Get("target"), timeRange: timeRangeOf(query)}
}

// query is the filter as withQuery takes it.
func (f auditFilter) query() []string {
	return append([]string{"actor", f.Actor, "action", f.Action, "target", f.Target}, f.timeRange.query()...)
}

// Any reports whether the filter is not empty.
func (f auditFilter) Any() bool { return withQuery("", f.query()...) != "" }

// Actions are the actions that the filter suggests: all of the program's own, which are
// too many for a list of choices.
func (auditFilter) Actions() []string { return slices.Sorted(maps.Keys(sentences)) }

// parse reads the times in the reader's zone, and finds what the target means.
func (f *auditFilter) parse(r *request, tx store.Tx) (err error) {
	if err = f.timeRange.parse(r.zone(), r.Now); err == nil && f.Target != "" {
		f.targets, err = r.targetsNamed(tx, f.Target)
	}
	return err
}

// maxKeysNamed is in how many of the org's API keys a name is searched for.
const maxKeysNamed = 1000

// targetsNamed are the ids that a text means: itself, endpoints with it in the URL or the name,
// API keys and the first members with it in the name, and the membership of a user id.
func (r *request) targetsNamed(tx store.Tx, text string) ([]string, error) {
	ids, has := []string{text}, containsFold(text)
	endpoints, err := tx.Endpoints(r.Org.ID)
	if err != nil {
		return nil, err
	}
	for _, e := range endpoints {
		if has(endpointTitle(e)) {
			ids = append(ids, e.ID)
		}
	}
	keys, err := tx.APIKeys(r.Org.ID, "", maxKeysNamed)
	for _, k := range keys {
		if has(k.Name) {
			ids = append(ids, k.ID)
		}
	}
	if err != nil {
		return nil, err
	}
	members, err := r.membersAfter(tx, store.Cursor{}, maxSearched)
	for _, m := range members {
		if has(m.Name) {
			ids = append(ids, m.ID, m.UserID)
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
		strings.HasPrefix(e.Action, f.Action) && !e.CreatedAt.Before(f.Since) && !f.isAfter(e.CreatedAt)
}

// cursorAt is the position before the first entry of a time; zero for the zero time.
func cursorAt(t time.Time) store.Cursor {
	if t.IsZero() {
		return store.Cursor{}
	}
	return store.CursorOf(t, " ") // before every id
}
