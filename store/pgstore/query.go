package pgstore

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// binaryFormat is that of all values and results.
var binaryFormat = []int16{1}

// newQuery makes a query of Go values: text, bytes, numbers, times as milliseconds,
// and lists of ids, keys and numbers.
func newQuery(sql string, args ...any) query {
	q := query{sql: sql}
	for _, arg := range args {
		switch v := arg.(type) {
		case string:
			q.values = append(q.values, plain(v))
		case int:
			q.values = append(q.values, bigint(int64(v)))
		case int64:
			q.values = append(q.values, bigint(v))
		case uint64:
			q.values = append(q.values, unsigned(v))
		case time.Time:
			q.values = append(q.values, millis(v))
		case []uint64:
			q.values = append(q.values, array(numberKind, len(v), func(i int) []byte { return unsigned(v[i]) }))
		case []byte:
			if v == nil {
				v = []byte{}
			}
			q.values = append(q.values, v)
		case [][]byte:
			q.values = append(q.values, array(bytesKind, len(v), func(i int) []byte { return v[i] }))
		case []string:
			q.values = append(q.values, array(textKind, len(v), func(i int) []byte { return plain(v[i]) }))
		default:
			panic(fmt.Sprintf("a parameter of type %T", arg))
		}
	}
	return q
}

// collect makes a statement keep the rows that come back.
func (q query) collect(rows *[]row) query {
	q.row = func(values [][]byte) error {
		*rows = append(*rows, copyRow(values))
		return nil
	}
	return q
}

// copyRow copies a row, into one piece of memory. Null values are nil.
func copyRow(values [][]byte) row {
	size := 0
	for _, v := range values {
		size += len(v)
	}
	kept, all := make(row, len(values)), make([]byte, 0, size)
	for i, v := range values {
		if v == nil {
			continue
		}
		start := len(all)
		all = append(all, v...)
		kept[i] = slices.Clip(all[start:])
	}
	return kept
}

// rows runs statements in one round trip, and returns the rows of the last one.
func (c *conn) rows(ctx context.Context, statements ...query) (rows []row, err error) {
	last := len(statements) - 1
	statements[last] = statements[last].collect(&rows)
	err = c.run(ctx, statements...)
	return rows, err
}

// run and rows run statements in one round trip on one of the connections.
func (p *pool) run(ctx context.Context, statements ...query) error {
	return p.with(ctx, func(ctx context.Context, c *conn) error {
		return c.run(ctx, statements...)
	})
}

func (p *pool) rows(ctx context.Context, statements ...query) (rows []row, err error) {
	err = p.with(ctx, func(ctx context.Context, c *conn) (err error) {
		rows, err = c.rows(ctx, statements...)
		return err
	})
	return rows, err
}
