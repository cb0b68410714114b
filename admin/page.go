package admin

import (
	"teamdata/store"
	"teamdata/wire/web"
)

// page answers with a page of a list.
func (r *request) page(read func(tx store.Tx, q web.PageQuery) (store.Page, error)) error {
	return r.pageUpTo(web.MaxLimit, read)
}

// pageUpTo is page for a list whose pages have up to so many items.
func (r *request) pageUpTo(most int, read func(tx store.Tx, q web.PageQuery) (store.Page, error)) error {
	q, err := web.ParsePageQueryUpTo(most, r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	return r.view(func(tx store.Tx) (store.Answer, error) {
		page, err := read(tx, q)
		return ok(web.AppendPageEnd(page, q.AfterText)), err
	})
}

// pageOf returns a page of records in order of id, after builtIn built-in ones in
// their own order.
func pageOf[T any](records []T, builtIn int, q web.PageQuery, id func(T) string, json func(T) []byte) store.Page {
	page := store.Page{Items: []byte(web.PageStart)}
	for i, record := range records {
		at := store.Cursor{Ms: uint64(min(i, builtIn)), ID: id(record)}
		switch {
		case at.Compare(q.After) <= 0 && !q.After.IsZero():
		case page.Count == q.Limit:
			page.More = true
			return page
		default:
			page = withItem(page, json(record))
			page.Last = at
		}
	}
	return page
}

func withItem(page store.Page, json []byte) store.Page {
	if page.Count > 0 {
		page.Items = append(page.Items, ',')
	}
	page.Items = append(page.Items, json...)
	page.Count++
	return page
}
