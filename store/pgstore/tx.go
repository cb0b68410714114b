package pgstore

import (
	"context"
	"errors"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// tx is a transaction of the engine: store.Tx on one of the database. That of a
// View reads a snapshot. That of Updates is shared by a group of them, which
// write to an overlay in memory.
type tx struct {
	s     *Store
	ctx   context.Context
	conn  *conn
	now   time.Time
	begun bool     // otherwise the first query begins it; or each round trip is one of its own
	over  *overlay // nil in a View
	err   error    // of the database: the transaction is of no more use

	single   bool // a View that may be run again: if it begins with a page, that is taken to be all
	alone    bool // it was read, without a transaction around it
	answered bool // it has got an answer
	replayed bool // it read a row that expires: an answer that was given before

	lacking   []partition       // partitions that are needed and not there
	held      map[string]uint64 // the tokens of the node's leases, if a fence is in the group
	published published
	lastID    string // the last that an update made, without its prefix
	rows.Changes

	store.Tx // of rowTx
	rowTx    rows.Tx
}

func newTx(s *Store, ctx context.Context, c *conn) *tx {
	t := &tx{s: s, ctx: ctx, conn: c}
	t.rowTx.On(t, nil)
	t.Tx = store.Tx{Tx: &t.rowTx, Apart: t}
	return t
}

// ownTx is an engine's transaction as its own type.
func ownTx(t store.Tx) *tx { return t.Apart.(*tx) }

var (
	errReadOnly = errors.New("a View can't write")
	errNotAlone = errors.New("a View reads more than one page")
)

func (t *tx) HTTPOnLoopback() bool { return t.s.options.ForTests }

func (t *tx) IsClaimed(deliveryID string) bool { return t.s.IsClaimed(deliveryID) }

func (t *tx) Now() time.Time { return t.now }

func (t *tx) NewID(prefix string) string {
	id := t.s.ids.next(prefix, t.now)
	t.lastID = id[len(prefix):]
	return id
}

// exec sends queries in one round trip.
func (t *tx) exec(queries ...query) error {
	if t.err != nil {
		return fault(t.err)
	}
	if err := t.ctx.Err(); err != nil {
		return err
	}
	if t.alone {
		t.err = errNotAlone
		return fault(t.err)
	}
	if !t.begun {
		begin := []query{{sql: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}}
		if t.conn.server.pooled { // otherwise the session has the same limits
			begin = append(begin, query{sql: sqlLimits})
		}
		queries = append(begin, queries...)
		t.begun = true
	}
	return fault(t.run(queries...))
}

// run sends queries in one round trip. A View's caller that goes away does not end it,
// since that would cost the connection.
func (t *tx) run(queries ...query) error {
	ctx := t.ctx
	if t.over == nil {
		ctx = context.WithoutCancel(ctx)
	}
	t.err = t.conn.run(ctx, queries...)
	t.answered = t.answered || t.err == nil
	if tableGone(t.err) {
		t.err = t.s.replaced()
	}
	return t.err
}

// scan reads rows of tables, as they are with what this transaction wrote.
func (t *tx) scan(from []*table, queries ...query) error {
	if t.over != nil {
		queries = append(t.over.flushEarly(from), queries...)
	}
	return t.exec(queries...)
}

// get reads a row by its key; nil: none.
func (t *tx) get(from *table, key []byte) (row, error) {
	if found, known := t.over.row(from, key); known {
		return found, nil
	}
	var rows []row
	q := query{sql: from.sql().selectRow, values: row{key}}.collect(&rows)
	if err := t.scan(nil, q); err != nil { // what an update that failed had sent early is undone first
		return nil, err
	}
	var found row
	if len(rows) > 0 {
		found = rows[0]
	}
	if t.over != nil && found == nil {
		t.over.absent(from, q.values)
	} else if t.over != nil {
		t.over.loaded(from, found[:1], found)
	}
	return found, nil
}

// put adds or replaces a row.
func (t *tx) put(to *table, r row) error { return t.write(to, r[:1], r, false) }

// insert adds a row under an unused key, which costs less.
func (t *tx) insert(to *table, r row) error { return t.write(to, r[:1], r, true) }

// remove deletes a row, if there is one.
func (t *tx) remove(from *table, key []byte) error { return t.write(from, row{key}, nil, false) }

func (t *tx) write(to *table, key, r row, unused bool) error {
	if t.over == nil {
		return fault(errReadOnly)
	}
	t.over.write(to, key, r, unused)
	return nil
}
