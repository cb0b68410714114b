package pgstore

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// carriedKind is how the records of a store.Kind are read from the tables and written to
// them.
type carriedKind struct {
	of      *rows.Kind // nil: they are not kept as rows
	key     []column   // the parts of the key, in their order, of which its table has columns
	query   string     // reads key and record, in the order of the keys; of numbers the record alone
	table   string     // that is written; empty: none is
	columns string     // those that are written: of the key, and others behind them

	record func(kept []byte) ([]byte, error)                 // the record as it is carried; nil: as it is kept
	values func(t *rows.Tx, key, record []byte) (row, error) // the columns behind the key
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
		of: k, key: in.cols[:1], table: in.name, columns: in.columns,
		query: in.selectKeys("key, value") + in.order(rows.Range{Index: rows.ByKey}),
		values: func(t *rows.Tx, key, record []byte) (row, error) {
			r, err := k.RowOf(t, key, record)
			if k.Span == 0 {
				r.At = time.UnixMilli(0)
			}
			return in.rowOf(&r)[1:], err
		},
	}
}

var carriedCounts = &carriedKind{
	key: []column{number("hour"), text("org_id"), number("endpoint")}, table: deliveryCounts.name, columns: "hour, org_id, endpoint, counts",
	query: "SELECT int8send(hour) || convert_to(org_id, 'UTF8') || '\\x00'::bytea || int8send(endpoint), summed.counts FROM (" + fmt.Sprintf(sqlSumParts, deliveryCounts.name) + ") summed (org_id, hour, endpoint, counts) ORDER BY hour, org_id, endpoint",
	record: func(kept []byte) ([]byte, error) {
		return rows.Encode(store.CountsFields, readCounts(kept)), nil
	},
	values: func(_ *rows.Tx, _, record []byte) (row, error) {
		c, err := rows.Decode(record, store.CountsFields)
		numbers := numbersOf(&c)
		return row{array(numberKind, len(numbers), func(i int) []byte { return bigint(int64(*numbers[i])) })}, err
	},
}

// splitKey splits a key in its parts, as store.Kind says.
func splitKey(parts []column, key []byte) (values row, err error) {
	for i, part := range parts {
		var value []byte
		switch {
		case part.kind == numberKind && len(key) >= 8:
			value, key = key[:8], key[8:]
		case part.kind == numberKind:
			return nil, rows.ErrRecord
		case i < len(parts)-1:
			value, key, _ = bytes.Cut(key, []byte{0})
		default:
			value, key = key, nil
		}
		values = append(values, value)
	}
	if len(key) > 0 {
		return nil, rows.ErrRecord
	}
	return values, nil
}
