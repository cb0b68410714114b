package settings

import (
	"maps"
	"net/url"
	"slices"
	"strings"

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
	text := "No entry"
	if p.Filter.Action != "" {
		text += " with the action " + p.Filter.Action
	}
	if p.Filter.Target != "" {
		text += " on “" + p.Filter.Target + "”"
	}
	for _, who := range p.Actors {
		if who.ID == p.Filter.Actor {
			text += " by " + who.Name
		}
	}
	return strings.TrimSpace(text+" was found "+periodWords[p.Filter.Time]) + "."
}

// ExportPath is the path of the export with the same filter.
func (p auditPage) ExportPath(format string) string {
	return withQuery(p.path+"/export", append(p.Filter.query(), "format", format)...)
}

func (r *request) showAuditLog() error {
	p := auditPage{Filter: auditFilterOf(r.HTTP.URL.Query()), path: r.path("audit-log")}
	return r.showFiltered("auditlog", &p, &p.Err, func(tx store.Tx) error {
		err := r.findActors(tx, &p)
		var rules store.AuditFilter
		if err == nil {
			rules, err = p.Filter.parse(r, tx)
		}
		if err == nil {
			p.listPage, err = search(r, records[store.AuditEntry, auditRow]{
				path: p.path, filter: p.Filter.query(), param: "before",
				read: r.readEntriesBack(tx, rules), at: entryPosition,
				row: func(e store.AuditEntry) (row auditRow, matches bool, err error) {
					if matches = rules.Matches(e); matches {
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
	p.Actors = []person{{ID: store.SystemActor, Name: "System"}}
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
func (r *request) readEntriesBack(tx store.Tx, f store.AuditFilter) func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
	return func(before store.Cursor, limit int) ([]store.AuditEntry, error) {
		if end := f.End(); before.IsZero() || !end.IsZero() && end.Compare(before) < 0 {
			before = end
		}
		page, err := tx.AuditPageBefore(r.Org.ID, before, limit, []byte{'['})
		if err != nil {
			return nil, err
		}
		entries, err := store.AuditEntries(page)
		for i := range entries {
			if entries[i].CreatedAt.Before(f.Since) {
				return entries[:i], nil
			}
		}
		return entries, err
	}
}

func entryPosition(e store.AuditEntry) store.Cursor { return store.CursorOf(e.CreatedAt, e.ID) }

// auditFilter selects the entries of the audit log that are shown or exported.
type auditFilter struct {
	Actor  string // as in [store.AuditFilter]
	Action string
	Target string
	timeRange
}

// auditFilterOf is the filter of a query, before parse.
func auditFilterOf(query url.Values) auditFilter {
	return auditFilter{query.Get("actor"), query.Get("action"), query.Get("target"), timeRangeOf(query)}
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
func (f *auditFilter) parse(r *request, tx store.Tx) (rules store.AuditFilter, err error) {
	if err = f.timeRange.parse(r.zone(), r.Now); err != nil {
		return rules, err
	}
	rules = store.AuditFilter{Actor: f.Actor, Action: f.Action, Target: f.Target, Since: f.Since, Until: f.Until}
	return rules, rules.FindTargets(tx, r.Org.ID)
}

// containsFold reports whether a text contains another, whatever its case.
func containsFold(part string) func(text string) bool {
	part = strings.ToLower(part)
	return func(text string) bool { return strings.Contains(strings.ToLower(text), part) }
}
