package pgstore

import (
	"bytes"
	"cmp"
	"fmt"
	"sync"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// carriedKind is how the records of a store.Kind are read from the tables and written to
// them.
type carriedKind struct {
	in     *table                                            // that is written; nil: none is
	query  string                                            // reads key and record, in the order of the keys; of numbers the record alone
	record func(kept []byte) ([]byte, error)                 // the record as it is carried; nil: as it is kept
	row    func(t *rows.Tx, key, record []byte) (row, error) // what is written of it
}

// carriedKinds are made with their first use.
var carriedKinds = sync.OnceValue(func() map[store.Kind]*carriedKind {
	kinds := map[store.Kind]*carriedKind{store.KindDeliveryCounts: carriedCounts}
	for _, k := range rows.Kinds() {
		kinds[store.Kind(k.Name)] = carriedRows(k)
	}
	for _, kind := range store.Kinds() {
		if k := store.NumbersOf(kind); k != nil {
			kinds[kind] = &carriedKind{query: "SELECT int8send(last_value) FROM " + tableOf(k).numbers() + " WHERE is_called"}
		}
	}
	return kinds
})

// carriedRows is for rows, whose entries come from their values.
func carriedRows(k *rows.Kind) *carriedKind {
	in := tableOf(k)
	return &carriedKind{
		in:    in,
		query: in.selectKeys("key, value") + in.order(rows.Range{Index: rows.ByKey}),
		row: func(t *rows.Tx, key, record []byte) (row, error) {
			r, err := k.RowOf(t, key, record)
			if k.Span == 0 {
				r.At = time.UnixMilli(0)
			}
			return in.rowOf(&r), err
		},
	}
}

var carriedCounts = &carriedKind{
	in:    deliveryCounts,
	query: "SELECT int8send(hour) || convert_to(org_id, 'UTF8') || '\\x00'::bytea || int8send(endpoint), summed.counts FROM (" + fmt.Sprintf(sqlSumParts, deliveryCounts.name) + ") summed (org_id, hour, endpoint, counts) ORDER BY hour, org_id, endpoint",
	record: func(kept []byte) ([]byte, error) {
		return rows.Encode(store.CountsFields, readCounts(kept)), nil
	},
	row: func(_ *rows.Tx, key, record []byte) (row, error) {
		c, err := rows.Decode(record, store.CountsFields)
		org := len(key) - 8 - 1 - 8
		if err != nil || org < 0 || bytes.IndexByte(key[8:], 0) != org {
			return nil, cmp.Or(err, rows.ErrRecord)
		}
		numbers := numbersOf(&c)
		counts := array(numberKind, len(numbers), func(i int) []byte { return bigint(int64(*numbers[i])) })
		return row{key[8:][:org], key[:8], key[8+org+1:], counts}, nil
	},
}
