package rowstest

import (
	"fmt"
	"strings"

	"teamdata/store/rows"
)

// mergeTickets merges two ranges by nothing but the last byte of their keys, by which what
// is in the second comes first: a byte more to skip would leave them in their order.
var mergeTickets = operation{"merge tickets by their last byte", func(w *work) (string, error) {
	var ranges []rows.Range
	for _, from := range []uint64{many, 0} {
		ranges = append(ranges, rows.Range{Index: rows.ByKey, Bounds: rows.Bounds{From: rows.Number(nil, from), To: rows.Number(nil, from+12)}})
	}
	var b strings.Builder
	err := w.Merge(&Tickets.Kind, ranges, 7, 0, func(i int, item rows.Item) bool {
		fmt.Fprintf(&b, "%d %s\n", i, showItem(w, &Tickets.Kind, ranges[i], item))
		return true
	})
	return b.String(), err
}}
