package pgstore

import (
	"bytes"
	"slices"
	"time"
)

// overlay is what a group of updates has read, and what it has written: rows in
// memory in front of the database's. The writes of an update are undone in memory
// if it fails. A query that needs what was written sends it to the database early;
// then a savepoint is what a failed update goes back to.
type overlay struct {
	rows    []map[string]entry  // by table
	dirty   [][]string          // keys of rows that were written since they were sent
	counts  []counted           // not sent yet
	ranges  [][]loadedRange     // by table, in order: what was loaded as a whole
	careful bool                // rows that are said to be new may not be
	probed  bool                // an empty commit is asked for
	lastID  string              // the greatest that any node made
	lasts   []map[lastOf][]byte // by table: those that are known
	part    int64               // that counts are added to
	stale   []staleRow          // to be deleted

	// Of the update that runs:
	undo      []change
	moved     []moved
	saved     bool      // it has a savepoint
	early     []change  // what was sent since
	counted   int       // how many counts are of earlier updates
	staled    int       // and how many stale rows
	uncounted []counted // counts of earlier updates that were sent since
	finishing []query
}

// staleRow is a row in whose place another one was written.
type staleRow struct {
	*table
	row row
}

// entry is a row as it is now.
type entry struct {
	key   row
	row   row  // nil: none
	dirty bool // the database doesn't have it yet
	new   bool // nor any other row of that key
	there bool // but it has another row of that key, which was read

	version []byte // of the row that was read, as it was before the transaction; nil: it is that
}

// change is one row that was written, or sent, with what the overlay had there before.
type change struct {
	table *table
	key   string
	old   entry
	known bool
}

func newOverlay() *overlay {
	return &overlay{rows: make([]map[string]entry, len(tables)), dirty: make([][]string, len(tables)), ranges: make([][]loadedRange, len(tables)), lasts: make([]map[lastOf][]byte, len(tables))}
}

func (o *overlay) in(t *table) map[string]entry {
	if o.rows[t.place] == nil {
		o.rows[t.place] = map[string]entry{}
	}
	return o.rows[t.place]
}

// row returns a row as it is now, nil if it is not there, and whether that is known.
func (o *overlay) row(t *table, key []byte) (r row, known bool) {
	if o == nil {
		return nil, false
	}
	e, known := o.rows[t.place][string(key)]
	return e.row, known || o.rangeOf(t, key) != nil
}

// loaded keeps a row that was read, unless it has been written since.
func (o *overlay) loaded(t *table, key, r row) { o.keep(t, entry{key: key, row: r}) }

// claimed keeps a row that was read before the transaction, unless it is known. It is
// checked when it is written.
func (o *overlay) claimed(t *table, r row, version []byte) {
	o.keep(t, entry{key: r[:1], row: r, version: version})
}

func (o *overlay) keep(t *table, e entry) {
	name, rows := string(e.key[0]), o.in(t)
	if _, known := rows[name]; !known {
		rows[name] = e
	}
}

// absent notes of those keys that are not known that there are no such rows.
func (o *overlay) absent(t *table, keys [][]byte) {
	if o == nil {
		return
	}
	for _, key := range keys {
		o.loaded(t, row{bytes.Clone(key)}, nil)
	}
}

// forget forgets a claimed row that was not written.
func (o *overlay) forget(t *table, r row) {
	name, rows := string(r[0]), o.in(t)
	if e := rows[name]; e.version != nil && !e.dirty {
		delete(rows, name)
	}
}

func (o *overlay) write(t *table, key, r row, unused bool) {
	name, rows := string(key[0]), o.in(t)
	old, known := rows[name]
	before := change{t, name, old, known}
	if !known && o.rangeOf(t, key[0]) != nil {
		before.old, before.known = entry{key: key[:1]}, true
	}
	o.undo = append(o.undo, before)
	unused = unused || known && old.row == nil && (!old.dirty || old.new)
	there := known && (old.row != nil && !old.dirty || old.dirty && old.there)
	rows[name] = entry{key, r, true, unused && !o.careful, there && !o.careful, old.version}
	o.dirty[t.place] = append(o.dirty[t.place], name)
	o.rewritten(t, key[0])
	o.move(t, key, old.row, r, known || unused)
}

// begin begins an update.
func (o *overlay) begin() {
	if o.saved {
		o.finishing = append(o.finishing, query{sql: "RELEASE SAVEPOINT early"})
	}
	o.undo, o.moved, o.saved, o.early, o.counted, o.uncounted = o.undo[:0], o.moved[:0], false, nil, len(o.counts), nil
	o.staled = len(o.stale)
}

// wrote reports whether the update that runs has written anything.
func (o *overlay) wrote() bool {
	return len(o.undo) > 0 || len(o.counts) > o.counted || o.saved || o.probed
}

// rollback undoes what the update that runs has written.
func (o *overlay) rollback() {
	for _, c := range slices.Backward(o.undo) {
		if c.known {
			if o.rows[c.table.place][c.key] = c.old; c.old.dirty {
				o.dirty[c.table.place] = append(o.dirty[c.table.place], c.key)
			}
		} else {
			delete(o.rows[c.table.place], c.key)
			o.unloaded(c.table, []byte(c.key))
		}
		o.rewritten(c.table, []byte(c.key))
	}
	o.unmove()
	o.undo = o.undo[:0]
	o.counts, o.stale = o.counts[:o.counted], o.stale[:o.staled]
	if !o.saved {
		return
	}
	o.finishing = append(o.finishing, query{sql: "ROLLBACK TO SAVEPOINT early"})
	o.counts = append(o.counts, o.uncounted...)
	for _, p := range slices.Backward(o.early) { // what was sent twice becomes what it was at first
		if e, known := o.rows[p.table.place][p.key]; known {
			e.dirty, e.new, e.there, e.version = true, p.old.new, p.old.there, p.old.version
			o.rows[p.table.place][p.key] = e
			o.dirty[p.table.place] = append(o.dirty[p.table.place], p.key)
		}
	}
	o.early, o.uncounted, o.counted = nil, nil, len(o.counts)
}

// flushEarly returns what must be sent before some tables are read by a query.
func (o *overlay) flushEarly(from []*table) (queries []query) {
	queries, o.finishing = o.finishing, nil
	var writes []query
	for _, t := range from {
		writes = o.flush(t, writes)
	}
	if slices.Contains(from, deliveryCounts) && len(o.counts) > 0 {
		if o.uncounted == nil {
			o.uncounted = slices.Clone(o.counts[:o.counted])
		}
		writes = append(writes, addCounts(o.counts, o.part))
		o.counts, o.counted = nil, 0
	}
	if len(writes) == 0 {
		return queries
	}
	return append(append(queries, o.savepoint()...), writes...)
}

// savepoint makes the savepoint of the update that runs, if it has none.
func (o *overlay) savepoint() []query {
	if o.saved {
		return nil
	}
	o.saved = true
	return []query{{sql: "SAVEPOINT early"}}
}

// flushAll returns what is left to be sent.
func (o *overlay) flushAll() (queries []query) {
	queries, o.finishing = o.finishing, nil
	for _, t := range tables {
		queries = o.flush(t, queries)
	}
	if len(o.counts) > 0 {
		queries = append(queries, addCounts(o.counts, o.part))
	}
	return o.dropStale(queries)
}

// dropStale appends the queries that delete stale rows, each without a look at others.
func (o *overlay) dropStale(queries []query) []query {
	for _, t := range tables {
		var stale []row
		for _, s := range o.stale {
			if s.table == t {
				stale = append(stale, s.row)
			}
		}
		if len(stale) > 0 {
			queries = append(queries, columnwise("DELETE FROM "+t.name+" t USING unnest($1::bytea[], $2::bigint[]) stale (key, at) WHERE t.key = stale.key AND t.at = stale.at", t.cols[:2], stale))
		}
	}
	return queries
}

// after is a time, or the one that follows that of a stale row.
func after(stale row, at time.Time) time.Time {
	if next := readTime(stale[1]).Add(time.Millisecond); next.After(at) {
		return next
	}
	return at
}

// afterStale is a time that follows those of all stale rows of a key.
func (o *overlay) afterStale(t *table, key []byte, at time.Time) time.Time {
	for _, s := range o.stale {
		if s.table == t && bytes.Equal(s.row[0], key) {
			at = after(s.row, at)
		}
	}
	return at
}

// unsent reports whether a row was written, and not yet sent.
func (o *overlay) unsent(t *table, key []byte) bool { return o.rows[t.place][string(key)].dirty }

// flush appends the queries that send what was written to a table.
func (o *overlay) flush(t *table, queries []query) []query {
	keys := o.dirty[t.place]
	if len(keys) == 0 {
		return queries
	}
	var added, changed, claimed, put, gone []row
	for _, key := range keys {
		e := o.rows[t.place][key]
		if !e.dirty {
			continue
		}
		switch {
		case e.row != nil && e.new:
			added = append(added, e.row)
		case e.row != nil && e.version != nil:
			claimed = append(claimed, append(slices.Clip(e.row), e.version))
		case e.row != nil && e.there && len(t.cols) > 1 && t.last == "":
			changed = append(changed, e.row)
		case e.row != nil:
			if put = append(put, e.row); t.expires() {
				gone = append(gone, e.key)
			}
		case !e.new:
			gone = append(gone, e.key)
		}
		o.early = append(o.early, change{t, key, e, true})
		e.dirty, e.new, e.there, e.version = false, false, false, nil
		o.rows[t.place][key] = e
	}
	o.dirty[t.place] = nil
	send := func(sql string, cols []column, rows []row) {
		if len(rows) > 0 {
			queries = append(queries, columnwise(sql, cols, rows))
		}
	}
	s := t.sql()
	send(s.remove, t.cols[:1], gone)
	send(s.insert, t.cols, added)
	send(s.update, t.cols, changed)
	send(s.updateClaimed, append(slices.Clip(t.cols), column{"version", versionKind}), claimed)
	send(s.upsert, t.cols, put)
	return queries
}

// columnwise makes a statement whose parameters are the columns of rows.
func columnwise(sql string, cols []column, rows []row) query {
	s := newQuery(sql)
	for i, c := range cols {
		s.values = append(s.values, array(c.kind, len(rows), func(n int) []byte { return rows[n][i] }))
	}
	return s
}
