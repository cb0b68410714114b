package settings

import "teamdata/store"

// Bounds of one page of a list.
const (
	maxShown    = 50           // items
	maxSearched = 2000         // records that are read for one page
	searchChunk = 4 * maxShown // of them, how many are read at once after the first few; then twice as many, and so on
)

// searchResult is one page of the items that match.
type searchResult[T any] struct {
	Items      []T
	Next       store.Cursor // after which the next page begins; zero: this is the last
	Incomplete bool         // maxSearched records were read, and the page is not full
}

// Searched is how many records were read for a page that is Incomplete.
func (searchResult[T]) Searched() int { return maxSearched }

// nextPath is the path of the next page, whose query has the filter of the list and,
// as from, where the page begins; empty: this is the last.
func (l searchResult[T]) nextPath(path, from string, filter ...string) string {
	if l.Next.IsZero() {
		return ""
	}
	return withQuery(path, append(filter, from, l.Next.String())...)
}

// search collects a page of the items that match, after a position. read reads up
// to limit items; fewer mean the end of the list.
func search[T any](from store.Cursor, read func(from store.Cursor, limit int) ([]T, error), at func(T) store.Cursor, match func(T) bool) (l searchResult[T], err error) {
	limit := maxShown + 1 // a page without a filter, plus one to detect more
	for left := maxSearched; left > 0; left, limit = left-limit, min(max(searchChunk, 2*limit), left-limit) {
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
