package rowstest

import (
	"errors"
	"fmt"
	"strings"
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

func showVisit(v Visit) string {
	return fmt.Sprintf("%q at %v, %s\n", v.Who, v.At, brief([]byte(v.Note)))
}

// readVisits draws an operation that reads visits.
func (h *history) readVisits() operation {
	switch h.IntN(4) {
	case 0:
		return h.firstVisits()
	case 1, 2:
		return h.getVisits()
	}
	r := rows.Range{Index: rows.ByKey, Back: h.IntN(2) == 0}
	if h.IntN(3) > 0 {
		r.From = []byte(h.visitor())
	}
	if h.IntN(3) > 0 {
		r.To = []byte(h.visitor())
	}
	return scanVisits(r, h.before)
}

func scanVisits(r rows.Range, before time.Time) operation {
	return operation{fmt.Sprintf("visits %s, since %v", named(r), before), func(w *work) (string, error) {
		var b strings.Builder
		err := w.Scan(&Visits.Kind, r, func(item rows.Item) bool {
			if v, there := lately(item.Value, before); there {
				fmt.Fprintf(&b, "%q: %s", item.Key, showVisit(v))
			}
			return true
		})
		return b.String(), err
	}}
}

func (h *history) getVisits() operation {
	before := h.before
	var keys [][]byte
	for range h.IntN(6) {
		keys = append(keys, []byte(h.visitor()))
	}
	return operation{fmt.Sprintf("visits of %q since %v", keys, before), func(w *work) (string, error) {
		var b strings.Builder
		show := func(i int, value []byte) error {
			if v, there := lately(value, before); there {
				fmt.Fprint(&b, i, " ", showVisit(v))
			}
			return nil
		}
		err := w.Gets(&Visits.Kind, keys, show)
		for i, key := range keys {
			value, errGet := w.Get(&Visits.Kind, key)
			if err == nil {
				err = errGet
			}
			show(i, value)
		}
		return b.String(), err
	}}
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
