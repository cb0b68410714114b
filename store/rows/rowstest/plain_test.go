package rowstest_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"teamdata/e2e/kit"
	"teamdata/store/rows"
	"teamdata/store/rows/rowstest"
)

var seeds = kit.NewSeeds("rows.seeds", 3)

// TestModel compares the Model with an engine that is as unlike it as can be, so that a
// fault of what both are used by shows, too.
func TestModel(t *testing.T) {
	seeds.Run(t, func(t *testing.T, seed uint64) {
		t.Parallel()
		p := &plain{sealing: rows.Sealing{Sealer: sealer{}}}
		rowstest.Test(t, seed, func(testing.TB, string) rowstest.Engine { return p })
	})
}

// plain is an engine on one list, in no order. It deletes the entries of a row by its key,
// whatever they are: it never asks the kind for them.
type plain struct {
	mu      sync.Mutex
	lines   []line
	numbers uint64
	changed rows.Changes
	sealing rows.Sealing
}

// line is a row, or an entry of one.
type line struct {
	kind       *rows.Kind
	index      int
	key, value []byte
	row        string // the key of the row
}

func (p *plain) Close() error { return nil }

func (p *plain) View(fn func(*rows.Tx) error) error {
	p.mu.Lock()
	now := &plain{lines: slices.Clone(p.lines), sealing: p.sealing}
	p.mu.Unlock()
	return fn(now.tx(nil))
}

func (p *plain) tx(w *rows.Writing) *rows.Tx {
	var tx rows.Tx
	tx.On(p, w)
	return &tx
}

func (p *plain) Update(fn func(*rows.Tx) error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	lines, changed := slices.Clone(p.lines), p.changed
	err := fn(p.tx(&rows.Writing{}))
	if err != nil {
		p.lines, p.changed = lines, changed
	}
	return err
}

func (p *plain) Write(k *rows.Kind, r *rows.Row) error {
	p.lines = slices.DeleteFunc(p.lines, func(l line) bool { return l.kind == k && l.row == string(r.Key) })
	if r.Value == nil {
		return nil
	}
	p.lines = append(p.lines, line{k, rows.ByKey, r.Key, r.Value, string(r.Key)})
	for i, e := range r.Entries {
		if e.Key != nil {
			p.lines = append(p.lines, line{k, i, e.Key, e.Value, string(r.Key)})
		}
	}
	return nil
}

func (p *plain) Get(k *rows.Kind, key []byte) (value []byte, err error) {
	for _, l := range p.lines {
		if l.kind == k && l.index == rows.ByKey && l.row == string(key) {
			value = l.value
		}
	}
	return value, nil
}

func (p *plain) Gets(k *rows.Kind, keys [][]byte, fn func(int, []byte) error) (err error) {
	for i := 0; i < len(keys) && err == nil; i++ {
		if value, _ := p.Get(k, keys[i]); value != nil {
			err = fn(i, value)
		}
	}
	return err
}

// next is the line that comes after another one in a range, nil: the first; skip bytes of
// their keys don't count.
func (p *plain) next(k *rows.Kind, r rows.Range, after []byte, skip int) (next *line) {
	sign := 1
	if r.Back {
		sign = -1
	}
	for i, l := range p.lines {
		switch {
		case l.kind != k || l.index != r.Index || bytes.Compare(l.key, r.From) < 0,
			r.To != nil && bytes.Compare(l.key, r.To) >= 0,
			r.Bare && l.value != nil,
			after != nil && sign*bytes.Compare(l.key[skip:], after[skip:]) <= 0,
			next != nil && sign*bytes.Compare(l.key[skip:], next.key[skip:]) >= 0:
		default:
			next = &p.lines[i]
		}
	}
	return next
}

func (p *plain) Scan(k *rows.Kind, r rows.Range, fn func(rows.Item) bool) error {
	return p.Ranges(k, []rows.Range{r}, 0, func(_ int, item rows.Item) bool { return fn(item) })
}

func (p *plain) Ranges(k *rows.Kind, ranges []rows.Range, limit int, fn func(int, rows.Item) bool) error {
	left := limit
	for i, r := range ranges {
		n := 0
		for l := p.next(k, r, nil, 0); l != nil && (r.Limit == 0 || n < r.Limit); l = p.next(k, r, l.key, 0) {
			n++
			if left--; !p.pass(k, r, l, i, fn) || left == 0 {
				return nil
			}
		}
	}
	return nil
}

func (p *plain) Count(k *rows.Kind, ranges []rows.Range) ([]int, error) {
	counts := make([]int, len(ranges))
	for i, r := range ranges {
		p.Scan(k, r, func(rows.Item) bool { counts[i]++; return true })
	}
	return counts, nil
}

// pass calls fn with a line, in memory that fn must not write into, and that is written
// over then.
func (p *plain) pass(k *rows.Kind, r rows.Range, l *line, i int, fn func(int, rows.Item) bool) bool {
	item := rows.Item{Key: bytes.Clone(l.key), Value: bytes.Clone(l.value)}
	if r.Records && r.Index != rows.ByKey {
		record, _ := p.Get(k, []byte(l.row))
		item.Record = bytes.Clone(record)
	}
	more := fn(i, item)
	if !bytes.Equal(item.Key, l.key) || !bytes.Equal(item.Value, l.value) {
		panic("what was passed was written into")
	}
	for _, b := range [][]byte{item.Key, item.Value, item.Record} {
		copy(b, bytes.Repeat([]byte("?"), len(b)))
	}
	return more
}

func (p *plain) Merge(k *rows.Kind, ranges []rows.Range, skip, limit int, fn func(int, rows.Item) bool) error {
	var after []byte
	for n := 0; limit == 0 || n < limit; n++ {
		var first *line
		of := 0
		for i, r := range ranges {
			l := p.next(k, r, after, skip)
			if l != nil && (first == nil || (bytes.Compare(l.key[skip:], first.key[skip:]) < 0) != r.Back) {
				first, of = l, i
			}
		}
		if first == nil || !p.pass(k, ranges[of], first, of, fn) {
			break
		}
		after = first.key
	}
	return nil
}

func (p *plain) Join(k *rows.Kind, r rows.Range, dst []byte) (j rows.Joined, err error) {
	limit := r.Limit
	r.Limit = 0
	var all [][]byte
	err = p.Scan(k, r, func(item rows.Item) bool {
		if j.More = limit > 0 && j.Count == limit; j.More {
			return false
		}
		j.Count++
		j.Last, all = bytes.Clone(item.Key), append(all, bytes.Clone(item.Value))
		return true
	})
	j.Bytes = append(dst, bytes.Join(all, []byte(","))...)
	return j, err
}

func (p *plain) Last(k *rows.Kind, index int, prefix []byte) (last []byte, err error) {
	for _, l := range p.lines {
		if l.kind == k && l.index == index && bytes.HasPrefix(l.key, prefix) && bytes.Compare(l.key, last) >= 0 {
			last = l.key
		}
	}
	return last, nil
}

func (p *plain) Next(*rows.Kind) (uint64, error) {
	p.numbers++
	return p.numbers, nil
}

func (p *plain) Expire(*rows.Kind, time.Time, int) (int, error) { return 0, nil }
func (p *plain) Now() time.Time                                 { return time.Now() }
func (p *plain) NewID(prefix string) string                     { return prefix }
func (p *plain) Sealing() rows.Sealing                          { return p.sealing }
func (p *plain) Rewritable() int                                { return 0 }
func (p *plain) Changed() *rows.Changes                         { return &p.changed }

// sealer seals in a form that people can read.
type sealer struct{}

func (sealer) Seal(plain, place []byte) []byte {
	return []byte(base64.StdEncoding.EncodeToString(plain) + "@" + string(place))
}

func (sealer) Open(sealed, place []byte) ([]byte, error) {
	text, at, _ := bytes.Cut(sealed, []byte("@"))
	if !bytes.Equal(at, place) {
		return nil, errors.New("it was sealed for another place")
	}
	return base64.StdEncoding.AppendDecode(nil, text)
}
