package admin

import (
	"teamdata/store"
	"teamdata/wire/web"
)

// Bounds of a page of deliveries: a search for rare ones spans several pages.
const (
	maxScanned = 500 // deliveries that are read for it
	scanChunk  = 100 // of these, how many are read at once after the first
)

func (r *request) listDeliveries() error {
	filter, err := parseFilter(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	if !q.After.IsZero() && !store.ValidID(q.After.ID) {
		return store.Invalid("after", "must be the next of an earlier page of deliveries").Advise("leave it out to start from the newest")
	}
	return r.view(func(tx store.Tx) (store.Answer, error) {
		walk, err := store.WalkDeliveries(tx, r.org(), filter)
		if err != nil {
			return store.Answer{}, err
		}
		page, err := findDeliveries(tx, &walk, q)
		after := q.AfterText
		if page.Count == 0 && page.More { // continues after the last one read, even if none was shown
			after = page.Last.String()
		}
		return ok(web.AppendPageEnd(page, after)), err
	})
}

// parseFilter reads a filter from a query.
func parseFilter(query string) (store.DeliveryFilter, error) {
	fields, err := filterFields(query, store.DeliveryFilterFields)
	if err != nil {
		return store.DeliveryFilter{}, err
	}
	return store.ParseDeliveryFilter(func(name string) string { return fields[name] }, nil)
}

// filterFields reads the fields of a filter from a query. A parameter must not be empty: a
// script whose variable is not set doesn't mean all.
func filterFields(query string, names []string) (map[string]string, error) {
	fields := map[string]string{}
	for _, name := range names {
		value, given, err := web.Parameter(query, name)
		if err == nil && given && value == "" {
			err = store.Invalid(name, "is empty").Advise("leave it out for all")
		}
		if err != nil {
			return nil, err
		}
		fields[name] = value
	}
	return fields, nil
}

// findDeliveries reads until the page is full or maxScanned were read. It reads one
// more than it takes, to know whether more follow.
func findDeliveries(tx store.Tx, walk *store.DeliveryWalk, q web.PageQuery) (store.Page, error) {
	page, left := store.Page{Items: []byte(web.PageStart), Last: q.After}, maxScanned
	for limit := q.Limit + 1; ; limit = scanChunk {
		limit = min(limit, left+1)
		found, err := walk.Read(tx, page.Last, limit)
		if err != nil {
			return page, err
		}
		for _, d := range found {
			if page.Count == q.Limit || left == 0 {
				page.More = true
				return page, nil
			}
			left--
			if walk.Matches(d) {
				page = withItem(page, deliveryJSON(d, walk.Endpoint(&d)).end())
			}
			page.Last = d.Latest()
		}
		if len(found) < limit {
			return page, nil
		}
	}
}
