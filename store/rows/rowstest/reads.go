package rowstest

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"

	"teamdata/store/rows"
)

// everything reads all rows, and all entries of each index.
func everything() (all []operation) {
	for _, k := range Kinds {
		for _, r := range wholes(k) {
			for _, r.Back = range []bool{false, true} {
				all = append(all, scan(k, r, 0))
			}
		}
	}
	return append(all, operation{"find all", findAll})
}

// wholes are the ranges that a kind has in all: two indexes with one name stand together
// in some engines, so that a range of one of them is one list of a queue.
func wholes(k *rows.Kind) []rows.Range {
	all := []rows.Range{{Index: rows.ByKey}}
	if k != &Jobs.Kind {
		for i := range k.Indexes {
			all = append(all, rows.Range{Index: i, Records: true})
		}
		return all
	}
	for queue := range uint64(queues) {
		for _, queue := range []uint64{queue, queue << 20} {
			for _, list := range []byte{Waiting, Done, Tried} {
				b := rows.Within(append(rows.Number(nil, queue), list))
				all = append(all, rows.Range{Index: indexOf(list), Bounds: b, Records: true})
			}
		}
	}
	return all
}

func indexOf(list byte) int {
	if list == Tried {
		return 1
	}
	return 0
}

// findAll reads the records of the users as they were before they were sealed.
func findAll(w *work) (string, error) {
	all, err := Users.List(w.Tx, rows.Range{Index: rows.ByKey})
	return fmt.Sprint(all), err
}

// read draws an operation that reads.
func (h *history) read() operation {
	k := lasting[h.IntN(len(lasting))]
	switch h.IntN(11) {
	case 10:
		return h.count(k)
	case 9:
		return h.readVisits()
	case 0:
		return h.find()
	case 1:
		return h.gets(k)
	case 2:
		return h.last(k)
	case 3:
		return h.merge()
	case 4:
		return h.list()
	case 5:
		return h.join(k)
	case 6:
		return h.ranges(k)
	default:
		r := h.within(k)
		return scan(k, r, h.IntN(r.Limit+1))
	}
}

// key is the key of a row that may be there.
func (h *history) key(k *rows.Kind) []byte {
	switch k {
	case &Jobs.Kind:
		return []byte(h.jobID())
	case &Users.Kind:
		return h.userKey()
	case &Visits.Kind:
		return []byte(h.visitor())
	}
	return rows.Number(nil, h.ticket())
}

// bound is a key that may be there in a range, the one behind it, or the start of one.
func (h *history) bound(k *rows.Kind, whole rows.Range) []byte {
	var key []byte
	switch {
	case whole.Index == rows.ByKey:
		key = h.key(k)
	case k == &Jobs.Kind:
		key = append(rows.Number(slices.Clone(whole.From), uint64(h.at().UnixMilli())), h.jobID()...)
	default:
		u := h.user()
		key = Users.By[whole.Index].Key(nil, &u)
	}
	switch least := len(whole.From); h.IntN(4) {
	case 0:
		return append(key, 0)
	case 1:
		return append(key, 0xff)
	case 2:
		return key[:least+h.IntN(len(key)-least+1)]
	}
	return key
}

// within is a part of what there is of a kind.
func (h *history) within(k *rows.Kind) rows.Range {
	all := wholes(k)
	whole := all[h.IntN(len(all))]
	r := whole
	if h.IntN(3) > 0 {
		r.From = h.bound(k, whole)
	}
	if h.IntN(3) > 0 {
		r.To = h.bound(k, whole)
	}
	if r.Back = h.IntN(2) == 0; k.Span == 0 { // of what expires there may be more
		r.Limit = h.IntN(6)
	}
	r.Records = r.Records && h.IntN(2) == 0
	r.Bare = k == &Jobs.Kind && len(whole.From) > 8 && whole.From[8] == Waiting && h.IntN(3) == 0
	return r
}

// find reads a user.
func (h *history) find() operation {
	key := h.userKey()
	return operation{fmt.Sprintf("find the user %q", key), func(w *work) (string, error) {
		has, err := Users.Has(w.Tx, key)
		if err != nil {
			return "", err
		}
		u, err := Users.Find(w.Tx, key)
		if err == rows.ErrNone {
			return fmt.Sprint(has, err), nil
		}
		return fmt.Sprint(has, u), err
	}}
}

// gets reads some rows, of which one may be asked for twice.
func (h *history) gets(k *rows.Kind) operation {
	var keys [][]byte
	for range h.IntN(6) {
		keys = append(keys, h.key(k))
	}
	last, errLast := h.IntN(8), errors.New("this was the last")
	return operation{fmt.Sprintf("get of %s %q", k.Name, keys), func(w *work) (string, error) {
		var b strings.Builder
		err := w.Gets(k, keys, func(i int, value []byte) error {
			if !w.lives(k, value) {
				return nil
			}
			if fmt.Fprintf(&b, "%d %s\n", i, show(w, k, keys[i], value)); i == last {
				return errLast
			}
			return nil
		})
		for _, key := range keys {
			value, errGet := w.Get(k, key)
			if err == nil || err == errLast {
				err = errGet
			}
			if !w.lives(k, value) {
				value = nil
			}
			fmt.Fprintln(&b, show(w, k, key, value))
		}
		return b.String(), err
	}}
}

func (h *history) last(k *rows.Kind) operation {
	all := wholes(k)
	whole := all[h.IntN(len(all))]
	prefix := h.bound(k, whole)
	prefix = prefix[:len(whole.From)+h.IntN(len(prefix)-len(whole.From)+1)]
	return operation{fmt.Sprintf("last of %s, %d, %q", k.Name, whole.Index, prefix), func(w *work) (string, error) {
		key, err := w.Last(k, whole.Index, prefix)
		return fmt.Sprintf("%q", key), err
	}}
}

// merge reads lists of some queues in one order, from one time on.
func (h *history) merge() operation {
	lists := [][]byte{{Waiting}, {Done}, {Tried}, {Waiting, Tried}, {Done, Tried, Waiting}}[h.IntN(5)]
	from, limit := h.at(), h.IntN(6)
	back, records, bare, whole := h.IntN(2) == 0, h.IntN(2) == 0, h.IntN(2) == 0, h.IntN(2) == 0
	var ranges []rows.Range
	for queue := range uint64(1 + h.IntN(queues)) {
		for _, list := range lists {
			prefix := append(rows.Number(nil, queue<<(20*h.IntN(2))), list)
			// What was tried stands in both lists, in one order only if it is left out of one.
			r := rows.Range{Index: indexOf(list), Back: back, Records: records, Bare: list == Waiting && (bare || len(lists) > 1)}
			if r.Bounds = rows.Within(prefix); !whole {
				r.From = rows.Number(prefix, uint64(from.UnixMilli()))
			}
			ranges = append(ranges, r)
		}
	}
	return operation{fmt.Sprintf("merge %s, at most %d", named(ranges...), limit), func(w *work) (string, error) {
		return listing(w, &Jobs.Kind, ranges, 0, func(fn func(int, rows.Item) bool) error { return w.Merge(&Jobs.Kind, ranges, 9, limit, fn) })
	}}
}

// mergeTickets merges two ranges by nothing but the last byte of their keys, by which what
// is in the second comes first: a byte more to skip would leave them in their order.
var mergeTickets = operation{"merge tickets by their last byte", func(w *work) (string, error) {
	var ranges []rows.Range
	for _, from := range []uint64{many, 0} {
		ranges = append(ranges, rows.Range{Index: rows.ByKey, Bounds: rows.Bounds{From: rows.Number(nil, from), To: rows.Number(nil, from+12)}})
	}
	return listing(w, &Tickets.Kind, ranges, 0, func(fn func(int, rows.Item) bool) error { return w.Merge(&Tickets.Kind, ranges, 7, 0, fn) })
}}

// list reads records: those of jobs, or of users with their secrets.
func (h *history) list() operation {
	if h.IntN(2) == 0 {
		return list(Jobs, h.within(&Jobs.Kind))
	}
	return list(Users, h.within(&Users.Kind))
}

func list[T any](in *rows.Table[T], r rows.Range) operation {
	return operation{fmt.Sprintf("list %s %s", in.Name, named(r)), func(w *work) (string, error) {
		all, err := in.List(w.Tx, r)
		return fmt.Sprint(len(all), " ", brief([]byte(fmt.Sprintf("%q", fmt.Sprint(all))))), err
	}}
}

// join is of what is not sealed.
func (h *history) join(k *rows.Kind) operation {
	r := h.within(k)
	for k == &Users.Kind && r.Index == rows.ByKey {
		r = h.within(k)
	}
	r.Records = false
	return operation{fmt.Sprintf("join %s %s", k.Name, named(r)), func(w *work) (string, error) {
		j, err := w.Join(k, r, []byte("["))
		return fmt.Sprintf("%s, %d up to %q, more: %v", brief(j.Bytes), j.Count, j.Last, j.More), err
	}}
}

func scan(k *rows.Kind, r rows.Range, stop int) operation {
	return operation{fmt.Sprintf("scan %s %s, at most %d", k.Name, named(r), stop), func(w *work) (string, error) {
		return listing(w, k, []rows.Range{r}, stop, func(fn func(int, rows.Item) bool) error {
			return w.Scan(k, r, func(item rows.Item) bool { return fn(0, item) })
		})
	}}
}

// listing shows what is read from ranges, up to a number of items; 0: all.
func listing(w *work, k *rows.Kind, ranges []rows.Range, stop int, read func(fn func(i int, item rows.Item) bool) error) (string, error) {
	var b strings.Builder
	n := 0
	err := read(func(i int, item rows.Item) bool {
		if !w.lives(k, item.Value) {
			return true
		}
		fmt.Fprintf(&b, "%d %s\n", i, showItem(w, k, ranges[i], item))
		n++
		return n != stop
	})
	return b.String(), err
}

// alike are ranges that differ in their bounds alone.
func (h *history) alike(k *rows.Kind) []rows.Range {
	like := h.within(k)
	all := []rows.Range{like}
	for range h.IntN(5) {
		if r := h.within(k); r.Index == like.Index && (r.Bare || !like.Bare) {
			r.Back, r.Limit, r.Records, r.Bare = like.Back, like.Limit, like.Records, like.Bare
			all = append(all, r)
		}
	}
	return all[:h.IntN(len(all)+1)]
}

// ranges reads some ranges, perhaps not to their end.
func (h *history) ranges(k *rows.Kind) operation {
	all, limit, stop := h.alike(k), h.IntN(8), h.IntN(8)
	return operation{fmt.Sprintf("ranges of %s %s, at most %d, stopped at %d", k.Name, named(all...), limit, stop), func(w *work) (string, error) {
		return listing(w, k, all, stop, func(fn func(int, rows.Item) bool) error { return w.Ranges(k, all, limit, fn) })
	}}
}

func (h *history) count(k *rows.Kind) operation {
	all := h.alike(k)
	return operation{fmt.Sprintf("count of %s %s", k.Name, named(all...)), func(w *work) (string, error) {
		counts, err := w.Count(k, all)
		return fmt.Sprint(len(counts), counts), err
	}}
}

// showItem shows a row or an entry. An engine need not tell an entry without a value from
// one whose value is empty.
func showItem(w *work, k *rows.Kind, r rows.Range, item rows.Item) string {
	if r.Index == rows.ByKey {
		return fmt.Sprintf("%q: %s", item.Key, show(w, k, item.Key, item.Value))
	}
	text := fmt.Sprintf("%q: %q", item.Key, item.Value)
	if !r.Records {
		return text
	}
	return text + ", " + show(w, k, k.Indexes[r.Index].Record(nil, item.Key, item.Value), item.Record)
}

// show shows a row, with its secrets opened.
func show(w *work, k *rows.Kind, key, value []byte) string {
	if k != &Users.Kind || value == nil {
		return brief(value)
	}
	u, err := Users.Open(w.Tx, key, value)
	return brief([]byte(fmt.Sprint(u, err)))
}

func brief(b []byte) string {
	switch {
	case b == nil:
		return "none"
	case len(b) < 300:
		return fmt.Sprintf("%q", b)
	}
	return fmt.Sprintf("%.40q… of %d bytes, %x", b, len(b), crc32.ChecksumIEEE(b))
}

// named is how a report calls ranges.
func named(ranges ...rows.Range) string {
	var all []string
	for _, r := range ranges {
		all = append(all, fmt.Sprintf("%d from %q to %q, back %v, limit %d, records %v, bare %v", r.Index, r.From, r.To, r.Back, r.Limit, r.Records, r.Bare))
	}
	return strings.Join(all, " and ")
}
