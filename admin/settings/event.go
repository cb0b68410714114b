package settings

import (
	"cmp"
	"slices"

	"teamdata/store"
)

// eventsPage is the data of events.html.
type eventsPage struct {
	Type  string // of the events; empty: any
	Types []eventChoice
	listPage[eventRow]
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

// States counts the deliveries by state, failed ones first.
func (e eventRow) States() (counts []stateCount) {
	for _, d := range e.Deliveries {
		i := slices.IndexFunc(counts, func(c stateCount) bool { return c.First.StateName() == d.StateName() })
		if i < 0 {
			i, counts = len(counts), append(counts, stateCount{First: d})
		}
		counts[i].Count++
	}
	slices.SortStableFunc(counts, func(a, b stateCount) int {
		return cmp.Compare(stateOrder(a.First), stateOrder(b.First))
	})
	return counts
}

// stateOrder is the order in which states are shown: trouble first.
func stateOrder(d deliveryRow) int {
	return slices.Index([]string{"failed", "retrying", "back", "held", "pending", "waiting", "leased", "acknowledged"}, d.StateName())
}

// listEvents shows the events of the org by their latest attempt. No index has them: an
// event is where the latest of its deliveries is.
func (r *request) listEvents() error {
	p := &eventsPage{Type: r.HTTP.URL.Query().Get("type")}
	return r.Show(200, "events", p, func(tx store.Tx) (err error) {
		if p.Types, err = typeChoices(tx, p.Type); err != nil {
			return err
		}
		walk, err := store.WalkDeliveries(tx, r.Org.ID, store.DeliveryFilter{Type: p.Type})
		if err != nil {
			return err
		}
		rows := map[string]eventRow{}
		p.listPage, err = search(r, deliveryRecords(tx, &walk, r.path("events"), []string{"type", p.Type}, func(d store.Delivery) (row eventRow, matches bool, err error) {
			if !walk.Matches(d) {
				return row, false, nil
			}
			row, known := rows[d.EventID]
			if !known {
				row, err = r.eventRow(tx, d.EventID)
				rows[d.EventID] = row
			}
			return row, row.Latest.ID == d.ID, err
		}))
		return err
	})
}

// eventRow finds an event with its deliveries.
func (r *request) eventRow(tx store.Tx, id string) (row eventRow, err error) {
	event, err := tx.Event(id)
	if err != nil {
		return row, err
	}
	row = eventRow{ID: id, Type: event.Type}
	row.Deliveries, err = r.deliveriesOf(tx, event)
	for _, d := range row.Deliveries {
		if row.Latest.ID == "" || d.Latest().Compare(row.Latest.Latest()) > 0 {
			row.Latest = d.Delivery
		}
	}
	return row, err
}

// deliveriesOf finds an event's deliveries to endpoints that the org has, in the order in
// which they were made.
func (r *request) deliveriesOf(tx store.Tx, event store.Event) (rows []deliveryRow, err error) {
	for _, id := range event.Deliveries {
		d, e, err := store.FindDelivery(tx, r.Org.ID, id)
		switch {
		case store.IsNotFound(err): // dropped, or its endpoint was deleted
		case err != nil:
			return nil, err
		default:
			row, err := r.newRow(tx, d, &e)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// eventPage is the data of event.html.
type eventPage struct {
	store.Event
	Payload payload
	Rows    []deliveryRow // in the order in which they were made
}

func (r *request) showEvent() error {
	var p eventPage
	return r.Show(200, "event", &p, func(tx store.Tx) (err error) {
		if p.Event, err = r.event(tx, r.Param("event")); err != nil {
			return err
		}
		p.Payload = r.payload(p.Body)
		p.Rows, err = r.deliveriesOf(tx, p.Event)
		return err
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
	if !p.Raw {
		p.Body = indented(body)
	}
	p.Body = p.Body[:min(len(p.Body), maxBodyShown)]
	return p
}
