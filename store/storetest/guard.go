package storetest

import (
	"bytes"
	"cmp"
	"time"

	"teamdata/store/rows"
)

// guard is a transaction's rows, held to a scope: what is outside of it is neither shown nor
// written.
type guard struct {
	rows.Rows
	*bounds
}

var _ rows.Rows = guard{}

// everybodys reports whether everybody may read the rows of a kind, and nobody write them.
func everybodys(k *rows.Kind) bool { return k.Owner == nil && k.Beside == nil }

// owner is whose a row is; false: that can't be said, or it is everybody's.
func (g guard) owner(k *rows.Kind, key, value []byte) (o rows.Owner, known bool, err error) {
	if k.Beside != nil {
		k = k.Beside
		if value, err = g.Rows.Get(k, key); err != nil {
			return o, false, err
		}
	}
	if k.Owner != nil {
		o, known = k.Owner(key, value)
	}
	return o, known, nil
}

// show returns as much of a row's value as may be seen.
func (g guard) show(k *rows.Kind, key, value []byte) ([]byte, error) {
	o, known, err := g.owner(k, key, value)
	switch {
	case err != nil:
		return nil, err
	case !known || g.may(o, false):
		return value, nil
	case k.Only != nil:
		return k.Only(key, value), nil
	}
	return nil, g.left("%s %q", k.Name, key)
}

func (g guard) Get(k *rows.Kind, key []byte) ([]byte, error) {
	value, err := g.Rows.Get(k, key)
	return get(err, func() ([]byte, error) { return g.show(k, key, value) })
}

func (g guard) Gets(k *rows.Kind, keys [][]byte, fn func(i int, value []byte) error) error {
	if k.Mentioned {
		return g.Rows.Gets(k, keys, fn)
	}
	for _, key := range keys {
		if _, err := g.show(k, key, nil); err != nil {
			return err
		}
	}
	return g.Rows.Gets(k, keys, func(i int, value []byte) error {
		value, err := g.show(k, keys[i], value)
		return do(err, func() error { return fn(i, value) })
	})
}

// Write holds what was there to the owners, too, as far as the writer knows it.
func (g guard) Write(k *rows.Kind, r *rows.Row) error {
	if everybodys(k) {
		return g.left("writing %s", k.Name)
	}
	values := [][]byte{r.Value, r.Was}
	if _, known, err := g.owner(k, r.Key, r.Value); err != nil {
		return err
	} else if !known && r.Was == nil { // it is deleted
		if values[1], err = g.Rows.Get(k, r.Key); err != nil {
			return err
		}
	}
	for _, value := range values {
		if o, known, err := g.owner(k, r.Key, value); err != nil {
			return err
		} else if known && !g.may(o, true) {
			return g.left("writing %s %q", k.Name, r.Key)
		}
	}
	return g.Rows.Write(k, r)
}

// owners is whose all in a range are; nil: that of no range is known.
func owners(k *rows.Kind, index int) func(rows.Bounds) rows.Owner {
	if index == rows.ByKey {
		return k.Owners
	}
	return k.Indexes[index].Owner
}

// within fails unless all that ranges may have may be seen.
func (g guard) within(k *rows.Kind, ranges ...rows.Range) error {
	for _, r := range ranges {
		if of := owners(k, r.Index); !everybodys(k) && (of == nil || !g.may(of(r.Bounds), false)) {
			return g.left("%s from %q to %q", k.Name, r.From, r.To)
		}
	}
	return nil
}

// Scan lets one entry be looked for where entries of all owners are mixed, if it is there
// and may be seen.
func (g guard) Scan(k *rows.Kind, r rows.Range, fn func(rows.Item) bool) (left error) {
	sought := owners(k, r.Index) == nil && bytes.Equal(r.To, append(bytes.Clone(r.From), 0))
	if !sought {
		if err := g.within(k, r); err != nil {
			return err
		}
	}
	err := g.Rows.Scan(k, r, func(item rows.Item) bool {
		sought = false
		key, value := item.Key, &item.Value
		if r.Index != rows.ByKey {
			record := k.Indexes[r.Index].Record
			if record == nil {
				return fn(item)
			}
			key, value = record(nil, item.Key, item.Value), &item.Record
		}
		*value, left = g.show(k, key, *value)
		return left == nil && fn(item)
	})
	if sought && err == nil {
		left = g.within(k, r)
	}
	return cmp.Or(left, err)
}

func (g guard) Ranges(k *rows.Kind, ranges []rows.Range, limit int, fn func(i int, item rows.Item) bool) error {
	return do(g.within(k, ranges...), func() error { return g.Rows.Ranges(k, ranges, limit, fn) })
}

func (g guard) Count(k *rows.Kind, ranges []rows.Range) ([]int, error) {
	return get(g.within(k, ranges...), func() ([]int, error) { return g.Rows.Count(k, ranges) })
}

func (g guard) Merge(k *rows.Kind, ranges []rows.Range, skip, limit int, fn func(i int, item rows.Item) bool) error {
	return do(g.within(k, ranges...), func() error { return g.Rows.Merge(k, ranges, skip, limit, fn) })
}

func (g guard) Join(k *rows.Kind, r rows.Range, dst []byte) (rows.Joined, error) {
	return get(g.within(k, r), func() (rows.Joined, error) { return g.Rows.Join(k, r, dst) })
}

func (g guard) Last(k *rows.Kind, index int, prefix []byte) ([]byte, error) {
	within := g.within(k, rows.Range{Index: index, Bounds: rows.Within(prefix)})
	return get(within, func() ([]byte, error) { return g.Rows.Last(k, index, prefix) })
}

func (g guard) Expire(k *rows.Kind, _ time.Time, _ int) (int, error) {
	return 0, g.left("what expires of %s", k.Name)
}

// do goes on with a method, unless there is an error.
func do(left error, method func() error) error {
	if left != nil {
		return left
	}
	return method()
}

// get is do of a method with a result.
func get[T any](left error, method func() (T, error)) (v T, err error) {
	if left != nil {
		return v, left
	}
	return method()
}
