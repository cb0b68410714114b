package teamdata

import (
	"context"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"strconv"
)

// List is one of the API's lists. It is requested page by page while it is ranged
// over, and may be ranged over again.
type List[T any] struct {
	transport *Transport
	path      string
	query     url.Values
}

// NewList makes a list that is served at a path.
func NewList[T any](t *Transport, path string) List[T] {
	return List[T]{transport: t, path: path}.With("limit", "100")
}

// Page is a part of a list.
type Page[T any] struct {
	Data    []T    `json:"data"`
	Next    string `json:"next"`    // for [List.After]; on a page without items it is the cursor that was given
	HasMore bool   `json:"hasMore"` // whether more items followed at the time of the request
}

// After is the list behind a cursor, which is the Next of a page. A cursor does not
// expire. An empty one is the start of the list.
func (l List[T]) After(cursor string) List[T] {
	if cursor == "" {
		return l
	}
	return l.With("after", cursor)
}

// Limit sets how many items a page has at most: 1 to 100, which is the default.
func (l List[T]) Limit(n int) List[T] { return l.With("limit", strconv.Itoa(n)) }

// With sets a query parameter.
func (l List[T]) With(name, value string) List[T] {
	query := maps.Clone(l.query)
	if query == nil {
		query = url.Values{}
	}
	query.Set(name, value)
	l.query = query
	return l
}

// Pages are the pages of the list, until no more items follow; there is at least
// one. An error ends them.
//
// To poll, keep the Next of the last page, and continue from it later with [List.After]:
// each item comes once, and none is missed.
func (l List[T]) Pages(ctx context.Context) iter.Seq2[Page[T], error] {
	return func(yield func(Page[T], error) bool) {
		for list := l; ; {
			page, err := Call[Page[T]](ctx, list.transport, http.MethodGet, list.path+"?"+list.query.Encode(), nil, nil)
			if !yield(page, err) || err != nil || !page.HasMore || page.Next == "" {
				return
			}
			list = list.After(page.Next)
		}
	}
}

// All are the items of the list, from all its pages. An error ends them.
func (l List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page, err := range l.Pages(ctx) {
			if err != nil {
				yield(*new(T), err)
				return
			}
			for _, item := range page.Data {
				if !yield(item, nil) {
					return
				}
			}
		}
	}
}
