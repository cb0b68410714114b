package storetest

import (
	"teamdata/store"
	"teamdata/store/rows/rowstest"
)

// oracle is the contract of store.Tx on maps in memory, as plainly as can be: what is rows
// is kept by a model, and the rest below. What an engine may choose it takes from the
// engine's trace.
type oracle struct {
	*trace
	store.Nouns
	model   *rowstest.Model
	highest kept[pair, store.Cursor] // position that a list ever had, by list and org
	given   kept[uint64, bool]       // the endpoints' numbers, those of removed ones too
	counts  kept[countsOf, store.DeliveryCounts]
}

var _ store.Tx = (*oracle)(nil)

func newOracle() *oracle {
	o := &oracle{trace: new(trace)}
	o.model = rowstest.NewModel(o)
	o.Nouns.Tx = o.model.Tx()
	return o
}

// begin begins a transaction that chooses what an engine chose.
func (o *oracle) begin(t *trace) {
	o.trace = t
	o.model.Begin()
}

// kept are records of a kind, by their keys. The zero value holds none.
type kept[K comparable, T any] map[K]T

func (in kept[K, T]) find(key K) (T, error) {
	v, ok := in[key]
	if !ok {
		return v, store.Errorf(store.CodeNotFound, "There is no %v.", key)
	}
	return v, nil
}

func (in *kept[K, T]) keep(key K, v T) error {
	if *in == nil {
		*in = kept[K, T]{}
	}
	(*in)[key] = v
	return nil
}

func (in kept[K, T]) drop(key K) error {
	delete(in, key)
	return nil
}

const unlimited = int(^uint(0) >> 1)
