package rows

import (
	"time"
)

// Rows is one transaction of an engine. It reads from one snapshot, all of it
// on disk; a transaction that writes also sees its own writes, and those of earlier
// ones that share its commit.
//
// Keys are ordered by their bytes. An error of an engine is passed on as it is.
type Rows interface {
	// Now is the transaction's time, by the engine's clock.
	Now() time.Time
	// NewID returns an id greater than all earlier ones with the prefix.
	NewID(prefix string) string

	// Get returns the value of a row, which is valid until the transaction ends, and is
	// never changed; nil: there is no such row. One without a value is empty, and not nil.
	Get(k *Kind, key []byte) ([]byte, error)
	// Gets is Get for many keys at once. It calls fn with those that are there, in the
	// order of the keys, each with its place among them, where one may stand twice. fn must
	// not write.
	Gets(k *Kind, keys [][]byte, fn func(i int, value []byte) error) error
	// Write adds, replaces or deletes a row, with its entries. It finds no conflict: who
	// writes has looked. Two rows with the same entry are a storage fault. A row with a
	// Span leaves those that were under its key where they are, until they expire: who
	// writes has seen that they are in earlier partitions. The last of them counts.
	Write(k *Kind, r *Row) error

	// Scan calls fn with what is in a range, in its order, until fn returns false. What
	// fn gets is valid until it returns; it must not write. Where fn may stop early, the
	// range has a limit.
	Scan(k *Kind, r Range, fn func(Item) bool) error
	// Ranges is Scan for many ranges at once, one after the other, which are alike but for
	// their bounds. limit is that of all together, beside that of each; 0: none.
	Ranges(k *Kind, ranges []Range, limit int, fn func(i int, item Item) bool) error
	// Merge is Scan for many ranges, perhaps of several indexes, in one order: by what comes
	// in their keys behind skip bytes. They have one direction. Of their limits none counts:
	// limit is that of all.
	Merge(k *Kind, ranges []Range, skip, limit int, fn func(i int, item Item) bool) error
	// Count counts what is in each of some ranges, which are alike but for their bounds, up
	// to their limit.
	Count(k *Kind, ranges []Range) ([]int, error)
	// Join appends the values in a range to dst, with commas between them: of the
	// entries, or of the rows themselves.
	Join(k *Kind, r Range, dst []byte) (Joined, error)

	// Last returns the greatest key with a prefix in an index, or with ByKey among the
	// rows; nil: none. Those who append to a list ask for it, so that engines
	// may read it ahead. Of a kind with a Span nobody does.
	Last(k *Kind, index int, prefix []byte) ([]byte, error)
	// Next returns the next number of a kind, from 1 on, each once.
	Next(k *Kind) (uint64, error)
	// Expire drops rows that expire, the oldest first, of partitions in which all are
	// older than a time: a partition, or up to limit rows. It returns how many it dropped,
	// or about how many if they are thousands; 0: there are no more to be dropped now.
	Expire(k *Kind, before time.Time, limit int) (int, error)

	// Sealing is how secrets are kept.
	Sealing() Sealing
	// Rewritable is how many bytes a row may have that are the same whenever it is written
	// again, before they had better stand in another row.
	Rewritable() int
	// Changed is what others are told of with the commit. Changes of a failed
	// transaction are undone.
	Changed() *Changes
}

// Kind is what an engine knows of the rows of one kind. [Define] makes it of a Table.
type Kind struct {
	Name    string  // in the form of Go: deliveryLists
	Noun    string  // in: There is no such …
	Place   int     // among all kinds, from 0 on
	Indexes []Index // at most MaxIndexes; a row has at most one entry in each
	Numbers bool    // Next is asked
	// Rewritten says that rows may be written with every commit, and that they are few: an
	// engine may have to see to it that others can still be read.
	Rewritten bool
	Span      time.Duration // rows expire, in partitions of this length, and have no indexes; 0: they don't

	// Entries sets the entries of a stored value, or only their keys. They
	// belong to the transaction until its end.
	Entries func(t *Tx, key, value []byte, keysOnly bool, e *Entries) error
	// At is the time by which a row with a Span expires, and KeyOf appends its key to
	// dst, which the value has in it.
	At    func(value []byte) (time.Time, error)
	KeyOf func(dst, value []byte) ([]byte, error)
	// Seal seals the secrets of a stored value in plain text; nil: there are none.
	Seal func(s Sealing, key, value []byte) ([]byte, error)
	// Records codes the fields of the kind's records, for who knows no more of them.
	Records Records
	// Owner is whose a row is, by its key or else its value; false: neither says so. A kind
	// without one is everybody's to read, and nobody's to write. Owners is whose all in a
	// range of keys are; nil: there is no range of one owner.
	Owner  func(key, value []byte) (Owner, bool)
	Owners func(Bounds) Owner
	Beside *Kind // its rows belong to the owners of those with the same keys; nil: see Owner
	// Only is a stored value with nothing of it but whose it is, which anybody may find by
	// its key; nil: they may not. With Mentioned, they may find whether there are rows, many
	// at once: theirs refer to them.
	Only      func(key, value []byte) []byte
	Mentioned bool
	// Check checks the rows of the kind, see [Checker].
	Check func(c *Checker)
}

// RowOf is a stored value as a Row to be written.
func (k *Kind) RowOf(t *Tx, key, value []byte) (r Row, err error) {
	r = Row{Key: key, Value: value}
	if k.Entries != nil {
		err = k.Entries(t, key, value, false, &r.Entries)
	}
	if k.Span > 0 && err == nil {
		r.At, err = k.At(value)
	}
	return r, err
}

// Partition is the number of the partition of a kind with a Span that a time is in.
func Partition(k *Kind, at time.Time) uint64 {
	return uint64(max(at.UnixMilli(), 0) / k.Span.Milliseconds())
}

// Records codes records whose type is the noun's: a value of it stands behind a pointer.
type Records interface {
	New() any
	Encode(record any) []byte
	Decode(value []byte) (record any, err error) // what the key says is left out
	Open(tx *Tx, key, value []byte) (any, error) // with what the key says, and secrets opened
}

// MaxIndexes is how many indexes a kind has at most.
const MaxIndexes = 4

// ByKey is, in place of an index, the rows themselves.
const ByKey = -1

// Index is an order of the rows of a kind.
type Index struct {
	// Two indexes of a kind may share a name. Their entries may stand together, so that a
	// range of one of them begins and ends where the other has none.
	Name   string
	As     string // the index's own name, where it shares Name; empty: it doesn't
	Valued bool   // entries may have values
	// Owner is whose all entries in a range are; nil: there is no range of one owner, but
	// for a single key.
	Owner func(Bounds) Owner
	// Record appends the key of the row that an entry belongs to; nil: an entry doesn't
	// say.
	Record func(dst, key, value []byte) []byte
}

// Own is the name that no other index of the kind has.
func (x *Index) Own() string {
	if x.As != "" {
		return x.As
	}
	return x.Name
}

// Entries are the entries of a row, by the indexes of its kind.
type Entries [MaxIndexes]Entry

// Entry is what an index has of a row. Without a key the row is not in it. A nil Value
// is bare: none. An engine may keep an empty one as if it were bare, so that both
// don't stand in a range of which only the bare ones are asked for.
type Entry struct{ Key, Value []byte }

// Row is a row to be written. Its bytes belong to the engine until its commit has ended;
// the Row itself is the caller's, who uses it again.
type Row struct {
	Key, Value []byte // no Value: the row is deleted
	Entries    Entries
	New        bool      // nothing is under the key, nor ever was in this transaction
	Was        []byte    // what Get returned for the key; nil: it was not asked
	At         time.Time // of a kind with a Span
}

// Bounds are From <= key < To, whatever the order; a nil To is the end.
type Bounds struct{ From, To []byte }

// Range is what Scan goes through.
type Range struct {
	Index int // ByKey: the rows themselves
	Bounds
	Back    bool // the last key comes first
	Limit   int  // 0: none
	Records bool // with the rows' values
	Bare    bool // only entries without a value
}

// Item is one of a range: a row, or an entry of an index.
type Item struct {
	Key, Value []byte
	Record     []byte // the value of the entry's row, with Range.Records
}

// Joined is what Join made.
type Joined struct {
	Bytes []byte
	Count int
	Last  []byte // the key of the last one; nil: none
	More  bool   // whether the range has more than its limit
}

// Changes are what a group of transactions wrote that others are told of. A copy from
// before one of them undoes what it added.
type Changes struct {
	Touched bool // something that an Access depends on was written
	Retyped bool // an event type was written
	Dues    []Due
	Written []string // ids of waiting deliveries that were written once more
}

// Due is when deliveries of an endpoint become due.
type Due struct {
	Endpoint uint64
	At       time.Time
}

// Due adds that deliveries of an endpoint become due.
func (c *Changes) Due(endpoint uint64, at time.Time) { c.Dues = append(c.Dues, Due{endpoint, at}) }

// Again adds a waiting delivery that was written once more.
func (c *Changes) Again(deliveryID string) { c.Written = append(c.Written, deliveryID) }

// Want is what transactions will read, for engines that read it ahead: rows by their
// keys, or a range of them that is read whole.
type Want struct {
	Kind *Kind
	Keys [][]byte // nil: those within Bounds
	Bounds
}
