package settings

import "teamdata/store"

// Bounds of a page of a list. What is further back is a click away.
const (
	maxShown    = 50           // items
	maxFiltered = 2000         // records that are looked at for one page
	lookChunk   = 4 * maxShown // of them, that are read at once
)

// looked is what was found of a page.
type looked[T any] struct {
	Items  []T
	Next   store.Cursor // behind which the next page begins; zero: there is nothing more
	Enough bool         // the page is not full, but maxFiltered records were looked at
}

// look gathers a page of the items that match, from behind a position on. read
// reads up to limit items; fewer are the end of the list.
func look[T any](from store.Cursor, read func(from store.Cursor, limit int) ([]T, error), at func(T) store.Cursor, match func(T) bool) (l looked[T], err error) {
	limit := maxShown + 1 // a page without a filter, and what tells that there is more
	for left := maxFiltered; left > 0; left, limit = left-limit, min(lookChunk, left-limit) {
		items, err := read(from, limit)
		if err != nil {
			return l, err
		}
		for _, item := range items {
			switch {
			case !match(item):
			case len(l.Items) == maxShown:
				l.Next = at(l.Items[maxShown-1])
				return l, nil
			default:
				l.Items = append(l.Items, item)
			}
		}
		if len(items) < limit {
			return l, nil
		}
		from = at(items[limit-1])
	}
	l.Next, l.Enough = from, true
	return l, nil
}
