package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"time"

	"teamdata/store"
)

// eventsPage is the data of events.html.
type eventsPage struct {
	Type  string // of the events; empty: any
	Types []eventChoice
	Found searchResult[eventRow]
	After string // cursor behind which the page begins; empty: at the start
	Start string // path of the first page
	Next  string // path of the next page; empty: this is the last
}

// eventRow is an event with its deliveries to endpoints that the org has.
type eventRow struct {
	ID, Type   string
	Latest     store.Delivery // the one that was attempted last
	Deliveries []deliveryRow  // in the order in which they were made
}

// stateCount is how many deliveries of an event are in a state.
type stateCount struct {
	First deliveryRow
	Count int
}

// Others is how many there are beside the first.
func (c stateCount) Others() int { return c.Count - 1 }

// States counts the deliveries by state, those that failed first.
func (e eventRow) States() (counts []stateCount) {
	for _, d := range e.Deliveries {
		i := slices.IndexFunc(counts, func(c stateCount) bool { return c.First.State == d.State })
		if i < 0 {
			i, counts = len(counts), append(counts, stateCount{First: d})
		}
		counts[i].Count++
	}
	slices.SortStableFunc(counts, func(a, b stateCount) int {
		return cmp.Compare(stateOrder(a.First.State), stateOrder(b.First.State))
	})
	return counts
}

// stateOrder is the order in which states are shown: trouble first.
func stateOrder(s store.DeliveryState) int {
	return slices.Index([]store.DeliveryState{store.StateFailed, store.StateRetrying, store.StateHeld, store.StatePending, store.StateAcknowledged}, s)
}

// listEvents shows the events of the org by their latest attempt. No index has them: an
// event is where the latest of its deliveries is.
func (r *request) listEvents() error {
	query := r.HTTP.URL.Query()
	p := &eventsPage{Type: query.Get("type"), After: query.Get("after")}
	if err := r.View(func(tx store.Tx) error { return r.findEvents(tx, p) }); err != nil {
		return err
	}
	path := r.path("events")
	p.Start, p.Next = withQuery(path, "type", p.Type), p.Found.nextPath(path, "after", "type", p.Type)
	return r.Render(200, "events", p)
}

func (r *request) findEvents(tx store.Tx, p *eventsPage) error {
	types := deliveriesPage{Asked: url.Values{"type": {p.Type}}}
	if err := types.findTypes(tx); err != nil {
		return err
	}
	p.Types = types.Types
	from, err := parseCursor(p.After, func(c store.Cursor) bool { return store.ValidID(c.ID) })
	if err != nil {
		return err
	}
	walk, err := store.WalkDeliveries(tx, r.Org.ID, store.DeliveryFilter{Type: p.Type})
	if err != nil {
		return err
	}
	rows := map[string]*eventRow{}
	var failed error
	read := func(from store.Cursor, limit int) ([]store.Delivery, error) { return walk.Read(tx, from, limit) }
	match := func(d store.Delivery) bool {
		if failed != nil || !walk.Matches(d) {
			return false
		}
		row := rows[d.EventID]
		if row == nil {
			row, failed = r.eventRow(tx, &walk, d.EventID)
			rows[d.EventID] = row
		}
		return failed == nil && row.Latest.ID == d.ID
	}
	found, err := search(from, read, func(d store.Delivery) store.Cursor { return d.Latest() }, match)
	if err == nil {
		err = failed
	}
	p.Found.Next, p.Found.Incomplete = found.Next, found.Incomplete
	for _, d := range found.Items {
		p.Found.Items = append(p.Found.Items, *rows[d.EventID])
	}
	return err
}

// eventRow finds an event with its deliveries.
func (r *request) eventRow(tx store.Tx, w *store.DeliveryWalk, id string) (*eventRow, error) {
	event, err := tx.Event(id)
	if err != nil {
		return nil, err
	}
	row := &eventRow{ID: id, Type: event.Type}
	for _, id := range event.Deliveries {
		d, err := tx.Delivery(id)
		e := w.Endpoint(&d)
		switch {
		case store.IsNotFound(err) || err == nil && e == nil: // dropped, or of a removed endpoint
			continue
		case err != nil:
			return nil, err
		}
		if row.Latest.ID == "" || d.Latest().Compare(row.Latest.Latest()) > 0 {
			row.Latest = d
		}
		row.Deliveries = append(row.Deliveries, r.newRow(d, e))
	}
	return row, nil
}

// eventPage is the data of event.html.
type eventPage struct {
	ID, Type   string
	CreatedAt  time.Time
	Payload    payload
	Deliveries []deliveryRow // in the order in which they were made
}

func (r *request) showEvent() error {
	var p eventPage
	return r.Show(200, "event", &p, func(tx store.Tx) error {
		event, err := r.event(tx, r.Param("event"))
		if err != nil {
			return err
		}
		p = eventPage{ID: event.ID, Type: event.Type, CreatedAt: event.CreatedAt, Payload: r.payload(event.Body)}
		for _, id := range event.Deliveries {
			d, e, err := store.FindDelivery(tx, r.Org.ID, id)
			switch {
			case store.IsNotFound(err): // dropped, or its endpoint was removed
			case err != nil:
				return err
			default:
				p.Deliveries = append(p.Deliveries, r.newRow(d, &e))
			}
		}
		return nil
	})
}

// event finds an event of the org.
func (r *request) event(tx store.Tx, id string) (store.Event, error) {
	event, err := tx.Event(id)
	if store.IsNotFound(err) || err == nil && event.OrgID != r.Org.ID {
		return store.Event{}, errNoPage
	}
	return event, err
}

// maxBodyShown is how many bytes of an event's body a page shows.
const maxBodyShown = 64 << 10

// payload is the body of an event as a page shows it.
type payload struct {
	Body []byte // as it is sent, or indented
	Size int    // bytes that are sent
	Cut  bool   // the body is longer than what is shown
	Raw  bool   // the exact bytes are shown
}

// payload is a body in the form that the query asks for.
func (r *request) payload(body []byte) payload {
	p := payload{Body: body, Size: len(body), Cut: len(body) > maxBodyShown, Raw: r.HTTP.URL.Query().Get("body") == "raw"}
	var pretty bytes.Buffer
	if !p.Raw && json.Indent(&pretty, body, "", "  ") == nil {
		p.Body = pretty.Bytes()
	}
	p.Body = p.Body[:min(len(p.Body), maxBodyShown)]
	return p
}
