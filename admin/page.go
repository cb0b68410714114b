package admin

import (
	"teamdata/internal/web"
	"teamdata/store"
)

// page answers a page of a list.
func (r *request) page(read func(tx store.Tx, q web.PageQuery) (store.Page, error)) error {
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	return r.view(func(tx store.Tx) (store.Answer, error) {
		page, err := read(tx, q)
		return ok(web.AppendPageEnd(page, q.AfterText)), err
	})
}

// item is one item of a list: its position, and its JSON.
type item struct {
	at   store.Cursor
	json []byte
}

// named is the position of an item in a list in the order of its ids, behind the
// built-in items, which have lower ranks.
func named(rank int, id string) store.Cursor { return store.Cursor{Ms: uint64(rank), ID: id} }

// pageOf is the page of the items, which are in their order.
func pageOf(items []item, q web.PageQuery) store.Page {
	page := store.Page{Items: []byte(web.PageStart)}
	for _, i := range items {
		switch {
		case i.at.Compare(q.After) <= 0 && !q.After.IsZero():
		case page.Count == q.Limit:
			page.More = true
			return page
		default:
			page = withItem(page, i)
		}
	}
	return page
}

func withItem(page store.Page, i item) store.Page {
	if page.Count > 0 {
		page.Items = append(page.Items, ',')
	}
	page.Items = append(page.Items, i.json...)
	page.Count++
	page.Last = i.at
	return page
}

// itemsOf are the items of records in the order of their ids; see named.
func itemsOf[T any](records []T, rank int, id func(T) string, json func(T) []byte) []item {
	items := make([]item, len(records))
	for i, record := range records {
		items[i] = item{named(rank, id(record)), json(record)}
	}
	return items
}
