package settings

import "teamdata/store"

// Bounds of one page of a list.
const (
	maxShown    = 50           // items
	maxSearched = 2000         // records that are read for one page
	searchChunk = 4 * maxShown // of them, how many are read at once after the first few; then twice as many, and so on
)

// listPage is one page of a list's rows that match its filter.
type listPage[Row any] struct {
	Items      []Row
	Start      string // path of the first page; empty: this is it
	Next       string // path of the next page; empty: this is the last
	Incomplete bool   // maxSearched records were read, and the page is not full
}

// Searched is how many records were read for a page that is Incomplete.
func (listPage[Row]) Searched() int { return maxSearched }

// records are what a list's rows are made from, in the order of their positions.
type records[Record, Row any] struct {
	path   string                                               // of the list
	filter []string                                             // of the list, as withQuery takes it
	param  string                                               // of the query, which says after which position the page begins
	read   func(from store.Cursor, limit int) ([]Record, error) // fewer than limit mean the end of the list
	at     func(Record) store.Cursor
	row    func(Record) (row Row, matches bool, err error)
}

// search collects the page that the query asks for.
func search[Record, Row any](r *request, from records[Record, Row]) (l listPage[Row], err error) {
	at, err := cursorOf(r.HTTP.URL.Query().Get(from.param))
	if err != nil {
		return l, err
	}
	if !at.IsZero() {
		l.Start = withQuery(from.path, from.filter...)
	}
	next, err := from.collect(at, &l)
	if !next.IsZero() {
		l.Next = withQuery(from.path, append(from.filter, from.param, next.String())...)
	}
	return l, err
}

// collect adds the rows after a position to a page, and returns after which position the
// next page begins; zero: this is the last.
func (from records[Record, Row]) collect(at store.Cursor, l *listPage[Row]) (last store.Cursor, err error) {
	limit := maxShown + 1 // a page without a filter, plus one to detect more
	for left := maxSearched; left > 0; left, limit = left-limit, min(max(searchChunk, 2*limit), left-limit) {
		found, err := from.read(at, limit)
		if err != nil {
			return last, err
		}
		for _, record := range found {
			row, matches, err := from.row(record)
			switch {
			case err != nil:
				return last, err
			case !matches:
			case len(l.Items) == maxShown:
				return last, nil
			default:
				l.Items, last = append(l.Items, row), from.at(record)
			}
		}
		if len(found) < limit {
			return store.Cursor{}, nil
		}
		at = from.at(found[limit-1])
	}
	l.Incomplete = true
	return at, nil
}

// cursorOf parses the start of a page, as given by the page before; empty: the first page.
func cursorOf(text string) (at store.Cursor, err error) {
	if text == "" {
		return at, nil
	}
	at, ok := store.ParseCursor(text)
	if !ok || !store.ValidID(at.ID) {
		return at, errNoPlace
	}
	return at, nil
}

var errNoPlace = store.Errorf(store.CodeBadRequest, "This page of the list does not exist.").Advise("Start again from the first page.")
