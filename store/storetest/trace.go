package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// trace is what an engine chose by itself in one transaction: its time, ids,
// positions in lists and endpoint numbers. An oracle that runs the same rules
// is given the same.
type trace struct {
	now       time.Time
	ids       []string
	positions []store.Cursor
	numbers   []uint64
}

// recorder is a transaction of an engine that keeps its trace.
type recorder struct {
	store.Tx
	*trace
}

func record(tx store.Tx) recorder { return recorder{tx, &trace{now: tx.Now()}} }

func (r recorder) NewID(prefix string) string {
	id := r.Tx.NewID(prefix)
	r.ids = append(r.ids, id)
	return id
}

func (r recorder) AppendMember(m store.Member) (store.Member, error) {
	m, err := r.Tx.AppendMember(m)
	if err == nil {
		r.positions = append(r.positions, store.CursorOf(m.CreatedAt, m.ID))
	}
	return m, err
}

func (r recorder) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e, err := r.Tx.AppendAudit(e)
	if err == nil {
		r.positions = append(r.positions, store.CursorOf(e.CreatedAt, e.ID))
	}
	return e, err
}

func (r recorder) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e, err := r.Tx.AddEndpoint(e)
	if err == nil {
		r.numbers = append(r.numbers, e.Number)
	}
	return e, err
}

// take removes and returns the first of what is left of a trace.
func take[T any](from *[]T, what string) T {
	if len(*from) == 0 {
		panic(fmt.Sprintf("the oracle asks for a %s more than the engine gave", what))
	}
	first := (*from)[0]
	*from = (*from)[1:]
	return first
}
