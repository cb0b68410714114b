package admin

import (
	"teamdata/internal/web"
	"teamdata/store"
)

// maxScanned bounds how many deliveries are read for one page: a state that
// few of them are in is searched over several pages.
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
		s := search{tx: tx, endpoint: &e, state: state, limit: q.Limit, left: maxScanned}
		s.page.Items = []byte(web.PageStart)
		err = s.run(q.After)
		return ok(s.envelope(q.AfterText)), err
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

// search gathers a page out of the lists.
type search struct {
	tx       store.Tx
	endpoint *store.Endpoint
	state    store.DeliveryState
	limit    int
	left     int // how many deliveries may still be read
	page     store.Page
}

// run reads the lists from behind a position on until the page is full or enough
// was read. One more is asked for than is taken: it tells whether the page
// goes on.
func (s *search) run(after store.Cursor) error {
	for more := true; more && !s.page.More; {
		limit := min(s.limit, s.left) + 1
		found, err := store.DeliveriesAfter(s.tx, s.endpoint.Number, s.lists(), after, limit)
		if err != nil {
			return err
		}
		for i := 0; i < len(found) && !s.page.More; i++ {
			after = found[i].Cursor()
			s.take(found[i], after)
		}
		more = len(found) == limit
	}
	return nil
}

// lists are those that may hold what is searched for.
func (s *search) lists() []store.DeliveryList {
	switch {
	case s.state == 0:
		return store.DeliveryLists
	case s.state == store.StateFailed:
		return []store.DeliveryList{store.ListFailed}
	case s.state == store.StateAcknowledged:
		return []store.DeliveryList{store.ListAcknowledged}
	case (s.state == store.StateHeld) == s.endpoint.Disabled():
		return []store.DeliveryList{store.ListWaiting}
	}
	return nil
}

// take shows a delivery if it is in the state that is searched for. A page that is
// full ends before it.
func (s *search) take(d store.Delivery, at store.Cursor) {
	if s.page.Count == s.limit || s.left == 0 {
		s.page.More = true
		return
	}
	s.left--
	if s.state == 0 || d.StateAt(s.endpoint) == s.state {
		s.page = withItem(s.page, item{json: deliveryJSON(d, s.endpoint).end()})
	}
	s.page.Last = at
}

// envelope is the page's body. A page that ends before the last of the lists goes
// on after the delivery that was read last, also when none of them was shown.
func (s *search) envelope(after string) []byte {
	if s.page.Count == 0 && s.page.More {
		after = s.page.Last.String()
	}
	return web.AppendPageEnd(s.page, after)
}
