package admin

import (
	"teamdata/internal/web"
	"teamdata/store"
)

// maxScanned bounds how many deliveries are read for one page: a search for a
// rare state spans several pages.
const maxScanned = 500

func (r *request) listDeliveries() error {
	state, err := parseState(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	if _, _, ok := store.CutDeliveryCursor(q.After); !ok {
		return store.Invalid("after", "must be the next of an earlier page of deliveries").Advise("leave it out to start from the first")
	}
	return r.view(func(tx store.Tx) (store.Answer, error) {
		e, err := store.FindEndpoint(tx, r.org(), r.Param("endpoint"))
		if err != nil {
			return store.Answer{}, err
		}
		page, err := findDeliveries(tx, &e, state, q)
		after := q.AfterText
		if page.Count == 0 && page.More { // continues after the last one read, even if none was shown
			after = page.Last.String()
		}
		return ok(web.AppendPageEnd(page, after)), err
	})
}

// parseState reads the parameter state; 0 for any.
func parseState(query string) (store.DeliveryState, error) {
	text, given, err := web.Parameter(query, "state")
	if err != nil || !given {
		return 0, err
	}
	for state := store.StatePending; state <= store.StateHeld; state++ {
		if state.String() == text {
			return state, nil
		}
	}
	return 0, store.Invalid("state", "must be pending, retrying, held, failed or acknowledged").Advise("leave it out for all")
}

// findDeliveries reads until the page is full or maxScanned were read. It reads
// one more than it takes, to know whether more follow. state 0 is any.
func findDeliveries(tx store.Tx, e *store.Endpoint, state store.DeliveryState, q web.PageQuery) (store.Page, error) {
	page, left := store.Page{Items: []byte(web.PageStart), Last: q.After}, maxScanned
	for more := true; more && !page.More; {
		limit := min(q.Limit, left) + 1
		found, err := store.DeliveriesAfter(tx, e.Number, listsOf(e, state), page.Last, limit)
		if err != nil {
			return page, err
		}
		more = len(found) == limit
		for _, d := range found {
			if page.Count == q.Limit || left == 0 {
				page.More = true
				break
			}
			left--
			if state == 0 || d.StateAt(e) == state {
				page = withItem(page, deliveryJSON(d, e).end())
			}
			page.Last = d.Cursor()
		}
	}
	return page, nil
}

// listsOf returns the lists that may contain an endpoint's deliveries in a state.
func listsOf(e *store.Endpoint, state store.DeliveryState) []store.DeliveryList {
	switch {
	case state == 0:
		return store.DeliveryLists
	case state == store.StateFailed:
		return []store.DeliveryList{store.ListFailed}
	case state == store.StateAcknowledged:
		return []store.DeliveryList{store.ListAcknowledged}
	case (state == store.StateHeld) == e.Disabled():
		return []store.DeliveryList{store.ListWaiting}
	}
	return nil
}
