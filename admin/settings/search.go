package settings

import "teamdata/store"

// Bounds of a page of a list. What is further back is a click away.
const (
	maxShown    = 50           // items
	maxSearched = 2000         // records that are searchResult at for one page
	searchChunk = 4 * maxShown // of them, that are read at once
)

// searchResult is one page of what was found.
type searchResult[T any] struct {
	Items      []T
	Next       store.Cursor // behind which the next page begins; zero: there is nothing more
	Incomplete bool         // the page is not full, but maxSearched records were searchResult at
}

// search gathers a page of the items that match, from behind a position on. read
// reads up to limit items; fewer are the end of the list.
func search[T any](from store.Cursor, read func(from store.Cursor, limit int) ([]T, error), at func(T) store.Cursor, match func(T) bool) (l searchResult[T], err error) {
	limit := maxShown + 1 // a page without a filter, and what tells that there is more
	for left := maxSearched; left > 0; left, limit = left-limit, min(searchChunk, left-limit) {
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
	l.Next, l.Incomplete = from, true
	return l, nil
}
