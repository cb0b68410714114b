package pgstore

import (
	"slices"

	"teamdata/store"
	"teamdata/store/engine"
	"teamdata/store/rows"
)

// ahead is what the updates of a group name, to be locked and read before they run.
type ahead struct {
	store.Scope
	fenced bool     // outcomes are written
	read   []string // those of Orgs of which outcomes are not all
	wanted []wanted // of the kinds of rows
}

// aheadOf is what a group names. A claimed delivery is taken as it was claimed, which the
// statement that writes its outcome checks; reread: it is read like others.
func aheadOf(group []*engine.Update, reread bool) (a ahead) {
	var claimed []string // deliveries whose outcomes are written
	for _, u := range group {
		a.want(u.Scope.Ahead())
		a.All = a.All || u.Scope.All
		a.Orgs = append(a.Orgs, u.Scope.Orgs...)
		if fenced(u) {
			a.fenced, claimed = true, append(claimed, u.Scope.Deliveries...)
		} else {
			a.read = append(a.read, u.Scope.Orgs...)
			a.wantDeliveries(u.Scope.Deliveries)
		}
		a.Users = append(a.Users, u.Scope.Users...)
	}
	if reread || a.All {
		a.wantDeliveries(claimed)
	}
	for _, ids := range []*[]string{&a.Orgs, &a.read, &a.Users} {
		slices.Sort(*ids)
		*ids = slices.Compact(*ids)
	}
	for i := range a.wanted {
		a.wanted[i].compact()
	}
	return a
}

// Orgs and users are locked by rows that have nothing else.
var (
	lockedOrgs = define("org_lists", text("org_id"))
	users      = define("users", text("id"))
)

// lock is the rows of a table that are to be locked.
type lock struct {
	*table
	keys []string
}

// toLock are the rows to be locked, table after table. With All everything is locked already.
func (a *ahead) toLock() []lock {
	locks := []lock{{lockedOrgs, a.Orgs}, {users, a.Users}}
	return slices.DeleteFunc(locks, func(l lock) bool { return a.All || len(l.keys) == 0 })
}

// locks are the queries that lock what is named, in order, and find the last id. lacking
// counts the rows that are not there.
func (a *ahead) locks(o *overlay, lacking *int) (queries []query) {
	for _, l := range a.toLock() {
		*lacking += len(l.keys)
		q := newQuery("SELECT "+l.columns+" FROM "+l.name+" WHERE "+l.columns+" = ANY($1) ORDER BY 1 FOR UPDATE", l.keys)
		q.row = func([][]byte) error {
			*lacking--
			return nil
		}
		queries = append(queries, q)
	}
	last := newQuery(sqlLastID)
	last.row = func(values [][]byte) error {
		o.lastID = max(o.lastID, string(values[0]))
		return nil
	}
	return append(queries, last)
}

// missing are the queries that make rows to be locked.
func (a *ahead) missing() (queries []query) {
	for _, l := range a.toLock() {
		queries = append(queries, newQuery("INSERT INTO "+l.name+" ("+l.columns+") SELECT * FROM unnest($1::text[]) ORDER BY 1 ON CONFLICT DO NOTHING", l.keys))
	}
	return queries
}

// reads are the queries that read what most updates of what is named read.
func (a *ahead) reads(o *overlay) (queries []query) {
	for i := range a.wanted {
		queries = append(queries, a.wanted[i].reads(o)...)
	}
	if len(a.read) > 0 {
		queries = append(queries, o.loadLasts(orgLists, a.parts()))
	}
	return queries
}

// load makes a query of rows of a table load them.
func (o *overlay) load(t *table, sql string, args ...any) query {
	q := newQuery(sql, args...)
	q.row = func(values [][]byte) error {
		r := copyRow(values)
		o.loaded(t, r[:1], r)
		return nil
	}
	return q
}

// absent notes that what was named and not found is not there.
func (a *ahead) absent(o *overlay) {
	for i := range a.wanted {
		a.wanted[i].known(o)
	}
}

// parts are the prefixes of the keys in lists of the orgs.
func (a *ahead) parts() (prefixes [][]byte) {
	for _, id := range a.read {
		prefixes = append(prefixes, rows.Part(nil, id))
	}
	return prefixes
}
