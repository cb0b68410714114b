package storetest

import (
	"strings"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

// oracle is a transaction on maps in memory: its rows are kept by a model, and the counts of
// deliveries below. It takes the choices that an engine is free to make from the engine's
// trace. Where an engine uses its queue, this searches as plainly as possible.
type oracle struct {
	*trace
	store.Tx
	model  *rowstest.Model
	given  map[uint64]bool // the endpoints' numbers, those of removed ones too
	counts map[countsOf]store.DeliveryCounts
}

func newOracle() *oracle {
	o := &oracle{trace: new(trace), given: map[uint64]bool{}, counts: map[countsOf]store.DeliveryCounts{}}
	o.model = rowstest.NewModel(o)
	o.Tx = store.Tx{Tx: o.model.Tx(), Apart: o}
	return o
}

// begin begins a transaction that chooses what an engine chose.
func (o *oracle) begin(t *trace) {
	o.trace = t
	o.model.Begin()
}

func (o *oracle) Now() time.Time { return o.now }

func (o *oracle) NewID(prefix string) string {
	id := take(&o.ids, "new id "+prefix)
	if !strings.HasPrefix(id, prefix) {
		panic("the oracle asks for a new id " + prefix + ", and the engine gave " + id)
	}
	return id
}

// Number is that of an endpoint.
func (o *oracle) Number(*rows.Kind) uint64 {
	number := take(&o.numbers, "number")
	if o.given[number] {
		panic("the engine gave an endpoint's number again")
	}
	o.given[number] = true
	return number
}

func (o *oracle) HTTPOnLoopback() bool  { return false }
func (o *oracle) IsClaimed(string) bool { return false }
