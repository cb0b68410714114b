package boltstore

import (
	"bytes"

	"go.etcd.io/bbolt"

	"teamdata/store/rows"
)

// rows checks the rows of some kinds: each has its entries, and there are no more entries
// than rows that have one. A bucket's entries are counted together, of whichever index.
func (c *checker) rows(kinds []*rows.Kind) error {
	on := rows.Checker{Tx: newTx(nil, c.bolt, nil).Tx.Tx, Found: c.found}
	on.Walk = func(k *rows.Kind, fn func(key, value []byte, compare func(want *rows.Entries))) error {
		n := map[string]int{}
		each := c.each
		if k.Span > 0 {
			each = func(b *bbolt.Bucket, fn func(key, value []byte)) int { return c.partitions(k, b, fn) }
		}
		var of []byte // the key of the row
		compare := func(want *rows.Entries) {
			for i, x := range k.Indexes {
				if e := &want[i]; e.Key != nil {
					n[x.Name]++
					c.entry(k, of, x.Name, e)
				}
			}
		}
		each(c.bolt.Bucket([]byte(k.Name)), func(key, value []byte) {
			of = key
			fn(key, value, compare)
		})
		for i, x := range k.Indexes {
			if i > 0 && k.Indexes[i-1].Name == x.Name {
				continue
			}
			if there := c.each(c.bolt.Bucket([]byte(x.Name)), func(_, _ []byte) {}); there != n[x.Name] {
				c.fault("%s: entries: %d, %s: %d", x.Name, there, k.Name, n[x.Name])
			}
		}
		return nil
	}
	return on.All(kinds)
}

// entry checks that the row under a key has an entry.
func (c *checker) entry(k *rows.Kind, key []byte, index string, want *rows.Entry) {
	var value []byte
	if b := c.bolt.Bucket([]byte(index)); b != nil {
		value = b.Get(want.Key)
	}
	switch {
	case value == nil:
		c.fault("%s %q: is not in %s under %q", k.Name, key, index, want.Key)
	case !bytes.Equal(value, want.Value):
		c.fault("%s %q: has %q in %s, and not %q", k.Name, key, value, index, want.Value)
	}
}
