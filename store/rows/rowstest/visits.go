package rowstest

import (
	"errors"
	"fmt"
	"time"

	"teamdata/store/rows"
)

// Visits expire, and an engine drops them when it likes. So what is read of them are those
// that may not be dropped yet: a history has a time before which all may be.

var visitors = []string{"ada", "ad", "bob", "bo\x00b", "eva", "zoe"}

func (h *history) visitor() string { return visitors[h.IntN(len(visitors))] }

// dawn is the start of the time in which histories begin.
var dawn = time.UnixMilli(0).UTC().Add(1000 * time.Hour)

// pass lets time pass, in whole partitions. It does not while transactions run, which
// would drop what others still read.
func (h *history) pass() {
	if h.IntN(4) == 0 {
		h.before = h.before.Add(time.Duration(h.IntN(3)) * Visits.Span)
	}
}

// writeVisit draws an operation that writes visits.
func (h *history) writeVisit() operation {
	before := h.before
	switch h.IntN(6) {
	case 0:
		limit := 1 + h.IntN(3)
		return operation{fmt.Sprintf("expire visits before %v, at most %d", before, limit), func(w *work) (string, error) {
			_, err := w.Expire(&Visits.Kind, before, limit)
			return "", err
		}}
	case 1:
		key := []byte(h.visitor())
		return operation{fmt.Sprintf("drop the visits of %q", key), func(w *work) (string, error) {
			return "", Visits.Drop(w.Tx, key)
		}}
	}
	v := Visit{Who: h.visitor(), At: before.Add(time.Duration(h.IntN(300)) * time.Minute), Note: h.text()}
	return operation{fmt.Sprintf("visit of %q at %v, %d", v.Who, v.At, len(v.Note)), func(w *work) (string, error) {
		was, err := w.Get(&Visits.Kind, []byte(v.Who))
		if err != nil {
			return "", err
		}
		if last, there := lately(was, before); there && rows.Partition(&Visits.Kind, last.At) >= rows.Partition(&Visits.Kind, v.At) {
			return "was there", nil
		}
		return "", Visits.Put(w.Tx, &v)
	}}
}

// lately is a visit, if it was not before a time.
func lately(value []byte, before time.Time) (v Visit, there bool) {
	if value == nil {
		return v, false
	}
	v, err := Visits.Read(nil, value)
	if err != nil {
		panic(err)
	}
	return v, !v.At.Before(before)
}

// lives reports whether a value is of a row that is not to expire yet.
func (w *work) lives(k *rows.Kind, value []byte) bool {
	if k != &Visits.Kind {
		return true
	}
	_, there := lately(value, w.before)
	return there
}

// readVisits draws an operation that reads visits.
func (h *history) readVisits() operation {
	switch k := &Visits.Kind; h.IntN(4) {
	case 0:
		return h.firstVisits()
	case 1:
		return scan(k, h.within(k), 0)
	default:
		return h.gets(k)
	}
}

// firstVisits reads some visits from an end on, which are at most as many, each once.
func (h *history) firstVisits() operation {
	r := rows.Range{Index: rows.ByKey, Back: h.IntN(2) == 0, Limit: 1 + h.IntN(3)}
	return operation{"first visits " + named(r), func(w *work) (string, error) {
		keys, err := rows.Keys(w.Tx, &Visits.Kind, r)
		all, errAll := rows.Keys(w.Tx, &Visits.Kind, rows.Range{Index: rows.ByKey, Back: r.Back})
		if err = errors.Join(err, errAll); err != nil {
			return "", err
		}
		if first := all[:min(len(all), r.Limit)]; fmt.Sprintf("%q", keys) != fmt.Sprintf("%q", first) {
			return fmt.Sprintf("%q are not the first of %q", keys, all), nil
		}
		return "", nil
	}}
}
