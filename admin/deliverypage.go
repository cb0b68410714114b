package admin

import (
	"slices"
	"strings"

	"teamdata/internal/web"
	"teamdata/store"
)

// maxLooked bounds how many deliveries are looked at for one page: a state that
// few of them are in is searched over several pages.
const maxLooked = 500

// lists are the lists of an endpoint in the order in which a page shows them.
// Their names are part of cursors.
var lists = []struct {
	list   store.DeliveryList
	name   string
	states []store.DeliveryState
}{
	{store.ListWaiting, "waiting", []store.DeliveryState{store.StatePending, store.StateRetrying, store.StateHeld}},
	{store.ListFailed, "failed", []store.DeliveryState{store.StateFailed}},
	{store.ListAcknowledged, "acknowledged", []store.DeliveryState{store.StateAcknowledged}},
}

func (r *request) listDeliveries() error {
	state, err := parseState(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	q, err := web.ParsePageQuery(r.HTTP.URL.RawQuery)
	if err != nil {
		return err
	}
	from, at, err := parseDeliveryCursor(q.After)
	if err != nil {
		return err
	}
	return r.view(func(tx store.Tx) (store.Answer, error) {
		e, err := store.FindEndpoint(tx, r.org(), r.Param("endpoint"))
		if err != nil {
			return store.Answer{}, err
		}
		s := search{tx: tx, endpoint: &e, state: state, limit: q.Limit, left: maxLooked}
		s.page.Items = []byte(web.PageStart)
		err = s.run(from, at)
		return ok(s.envelope(q.AfterText)), err
	})
}

// parseState reads the parameter state; 0 for any.
func parseState(query string) (store.DeliveryState, error) {
	text, given, err := web.Parameter(query, "state")
	if err != nil || !given {
		return 0, err
	}
	for _, l := range lists {
		for _, state := range l.states {
			if state.String() == text {
				return state, nil
			}
		}
	}
	return 0, store.Invalid("state", "must be pending, retrying, held, failed or acknowledged; leave it out for all")
}

// deliveryCursor is a position in one of the lists, in the form of any cursor.
func deliveryCursor(list string, at store.Cursor) store.Cursor {
	return store.Cursor{Ms: at.Ms, ID: list + "." + at.ID}
}

// parseDeliveryCursor finds the list, and the position in it, behind which a page
// begins.
func parseDeliveryCursor(c store.Cursor) (list int, at store.Cursor, err error) {
	if c.IsZero() {
		return 0, store.Cursor{}, nil
	}
	name, id, _ := strings.Cut(c.ID, ".")
	for i, l := range lists {
		if l.name == name && store.ValidID(id) {
			return i, store.Cursor{Ms: c.Ms, ID: id}, nil
		}
	}
	return 0, at, store.Invalid("after", "must be the next of an earlier page of deliveries; leave it out to start from the first")
}

// search gathers a page out of the lists.
type search struct {
	tx       store.Tx
	endpoint *store.Endpoint
	state    store.DeliveryState
	limit    int
	left     int // how many deliveries may still be looked at
	page     store.Page
}

// run looks through the lists, from a position in one of them to the end of the
// last, until the page is full or enough was looked at.
func (s *search) run(from int, at store.Cursor) error {
	for i := from; i < len(lists) && !s.page.More; i++ {
		if !s.concerns(lists[i].states) {
			continue
		}
		if err := s.look(i, at); err != nil {
			return err
		}
		at = store.Cursor{}
	}
	return nil
}

// concerns tells whether a list may hold what is looked for.
func (s *search) concerns(states []store.DeliveryState) bool {
	switch s.state {
	case 0:
		return true
	case store.StatePending, store.StateRetrying:
		return slices.Contains(states, s.state) && !s.endpoint.Disabled()
	case store.StateHeld:
		return slices.Contains(states, s.state) && s.endpoint.Disabled()
	}
	return slices.Contains(states, s.state)
}

// look takes what fits from one list. One more is asked for than is taken: it
// tells whether the page goes on.
func (s *search) look(list int, at store.Cursor) error {
	for more := true; more && !s.page.More; {
		var found []store.Delivery
		var err error
		found, more, err = s.tx.DeliveryPage(s.endpoint.Number, lists[list].list, at, min(s.limit, s.left)+1)
		if err != nil {
			return err
		}
		for i := 0; i < len(found) && !s.page.More; i++ {
			_, at = found[i].Position()
			s.take(found[i], deliveryCursor(lists[list].name, at))
		}
	}
	return nil
}

// take shows a delivery if it is in the state that is looked for. A page that is
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
// on behind what was looked at last, also when nothing of that was shown.
func (s *search) envelope(after string) []byte {
	if s.page.Count == 0 && s.page.More {
		after = s.page.Last.String()
	}
	return web.AppendPageEnd(s.page, after)
}
