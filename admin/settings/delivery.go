package settings

import (
	"bytes"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"

	"teamdata/store"
)

// maxBodyShown is how many bytes of an event's body a page shows.
const maxBodyShown = 64 << 10

// deliveryPage is the data of delivery.html.
type deliveryPage struct {
	store.Delivery
	Endpoint     store.Endpoint
	State        store.DeliveryState // as people see it
	History      []store.Attempt     // newest first
	Kept         bool                // earlier attempts are no longer kept
	UserAgent    string
	Body, Pretty []byte
	Cut          bool // the body is longer than what is shown
	Others       []otherDelivery
}

// otherDelivery is a delivery of the same event to another endpoint.
type otherDelivery struct {
	ID, URL string
	State   store.DeliveryState
}

// Done reports whether no further attempt is due.
func (p deliveryPage) Done() bool { return !p.State.Waiting() }

func (r *request) showDelivery() error {
	var p deliveryPage
	return r.show(200, "delivery", &p, func(tx store.Tx) error {
		if err := r.findDelivery(tx, &p); err != nil {
			return err
		}
		return r.addEvent(tx, &p)
	})
}

// watchDelivery answers with the part of the page that changes while a delivery is
// being attempted.
func (r *request) watchDelivery() error {
	var p deliveryPage
	if err := r.view(func(tx store.Tx) error { return r.findDelivery(tx, &p) }); err != nil {
		return err
	}
	return r.send(200, "delivery", "progress", &p)
}

// findDelivery fills in the delivery of the path, without its event.
func (r *request) findDelivery(tx store.Tx, p *deliveryPage) error {
	d, e, err := store.FindDelivery(tx, r.org.ID, r.Param("delivery"))
	*p = deliveryPage{Delivery: d, Endpoint: e, State: d.StateAt(&e), UserAgent: "teamdata/" + r.s.config.Version}
	p.History = slices.Clone(d.History)
	slices.Reverse(p.History)
	p.Kept = len(d.History) == store.MaxHistory
	return err
}

func (r *request) addEvent(tx store.Tx, p *deliveryPage) error {
	event, err := tx.Event(p.EventID)
	if err != nil {
		return err
	}
	var pretty bytes.Buffer
	if json.Indent(&pretty, event.Body, "", "  ") != nil {
		pretty.Write(event.Body)
	}
	p.Cut = len(event.Body) > maxBodyShown
	p.Body = event.Body[:min(len(event.Body), maxBodyShown)]
	p.Pretty = pretty.Bytes()[:min(pretty.Len(), maxBodyShown)]
	for _, id := range event.Deliveries {
		d, e, err := store.FindDelivery(tx, r.org.ID, id)
		switch {
		case store.IsNotFound(err) || id == p.ID: // dropped, or its endpoint was removed
		case err != nil:
			return err
		default:
			p.Others = append(p.Others, otherDelivery{d.ID, e.URL, d.StateAt(&e)})
		}
	}
	return nil
}

type deliveriesPage struct {
	Endpoint  store.Endpoint
	State     string // the name of a list; empty: all
	Type      string // of the events; empty: any
	Types     []eventChoice
	Recovered string // how many deliveries were just queued for retry; empty: no retry was requested
	After     string // cursor behind which the page begins; empty: at the start
	Found     searchResult[store.Delivery]
	Start     string // path of the first page
	Next      string // path of the next page; empty: this is the last
}

func (r *request) listDeliveries() error {
	p := deliveriesAsked(r.HTTP.URL.Query())
	err := r.view(func(tx store.Tx) error { return r.findDeliveries(tx, p) })
	if err != nil {
		return err
	}
	path, filter := r.endpointPath("deliveries"), []string{"state", p.State, "type", p.Type}
	p.Start, p.Next = withQuery(path, filter...), p.Found.nextPath(path, "after", filter...)
	return r.render(200, "deliveries", p)
}

// deliveriesAsked is the filter in a page's query. An unknown state means any.
func deliveriesAsked(query url.Values) *deliveriesPage {
	p := &deliveriesPage{State: query.Get("state"), Type: query.Get("type"), After: query.Get("after")}
	if !slices.ContainsFunc(store.DeliveryLists, func(l store.DeliveryList) bool { return l.String() == p.State }) {
		p.State = ""
	}
	if n, err := strconv.ParseUint(query.Get("n"), 10, 64); err == nil {
		p.Recovered = strconv.FormatUint(n, 10) + " deliveries"
		if n == 1 {
			p.Recovered = "1 delivery"
		}
	}
	return p
}

func (r *request) findDeliveries(tx store.Tx, p *deliveriesPage) (err error) {
	if p.Endpoint, err = r.endpoint(tx); err != nil {
		return err
	}
	if p.Types, err = eventChoices(tx, []string{p.Type}); err != nil {
		return err
	}
	if !slices.ContainsFunc(p.Types, func(c eventChoice) bool { return c.Chosen }) && p.Type != "" {
		p.Types = append(p.Types, eventChoice{Name: p.Type, Chosen: true}) // one that was removed since
	}
	from, err := parseCursor(p.After, func(c store.Cursor) bool { _, _, ok := store.CutDeliveryCursor(c); return ok })
	if err != nil {
		return err
	}
	p.Found, err = p.search(tx, from)
	return err
}

func (p *deliveriesPage) search(tx store.Tx, from store.Cursor) (searchResult[store.Delivery], error) {
	lists := slices.DeleteFunc(slices.Clone(store.DeliveryLists), func(l store.DeliveryList) bool {
		return p.State != "" && l.String() != p.State
	})
	read := func(from store.Cursor, limit int) ([]store.Delivery, error) {
		return store.DeliveriesAfter(tx, p.Endpoint.Number, lists, from, limit)
	}
	cursor := func(d store.Delivery) store.Cursor { return d.Cursor() }
	return search(from, read, cursor, func(d store.Delivery) bool { return p.Type == "" || d.EventType == p.Type })
}

// StateAt returns a delivery's state as shown to people.
func (p *deliveriesPage) StateAt(d store.Delivery) store.DeliveryState { return d.StateAt(&p.Endpoint) }

// Last is a delivery's latest attempt; nil when there is none.
func (p *deliveriesPage) Last(d store.Delivery) *store.Attempt {
	if len(d.History) == 0 {
		return nil
	}
	return &d.History[len(d.History)-1]
}
