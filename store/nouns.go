package store

import (
	"errors"

	"teamdata/store/rows"
)

// find reads a record. notFound: it doesn't exist.
func find[T any](in *rows.Table[T], t Tx, key []byte) (T, error) {
	v, err := in.Find(t.Tx, key)
	return v, missing(in, err)
}

// missing is an error of finding a record. notFound: it doesn't exist.
func missing[T any](in *rows.Table[T], err error) error {
	if err == rows.ErrNone {
		return Errorf(CodeNotFound, "There is no such %s.", in.Noun)
	}
	return stored(err)
}

// findOrZero reads a record, or the zero value where there is none.
func findOrZero[T any](in *rows.Table[T], t Tx, key []byte) (T, error) {
	v, err := in.Find(t.Tx, key)
	if err == rows.ErrNone {
		return v, nil
	}
	return v, stored(err)
}

// list reads up to limit records of a range.
func list[T any](in *rows.Table[T], t Tx, index int, b rows.Bounds, limit int) ([]T, error) {
	all, err := in.List(t.Tx, rows.Range{Index: index, Bounds: b, Limit: limit})
	return all, stored(err)
}

// unlimited is the limit of a list that is read whole.
const unlimited = 0

// oneMore is a limit that shows whether there are more.
func oneMore(limit int) int { return max(limit, limit+1) } // none is greater than the greatest

// stored is an error of reading what is stored, of which callers know nothing.
func stored(err error) error {
	if errors.Is(err, rows.ErrRecord) {
		return Unavailable(err)
	}
	return err
}
