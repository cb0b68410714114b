package settings

import (
	"bytes"
	"encoding/json"
	"slices"

	"teamdata/store"
)

// maxBodyShown is how many bytes of an event's body a page shows.
const maxBodyShown = 64 << 10

// deliveryPage is what is known of one delivery.
type deliveryPage struct {
	store.Delivery
	Endpoint     store.Endpoint
	State        store.DeliveryState // as people see it
	History      []store.Attempt     // latest first
	Kept         bool                // whether earlier attempts are no longer kept
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

// Done tells whether no attempt is to come by itself.
func (p deliveryPage) Done() bool { return !p.State.Waiting() }

func (r *request) showDelivery() error {
	p, err := r.deliveryPage(true)
	if err != nil {
		return err
	}
	return r.render(200, "delivery", &p)
}

// watchDelivery answers the part of the page that changes while a delivery is on
// its way.
func (r *request) watchDelivery() error {
	p, err := r.deliveryPage(false)
	if err != nil {
		return err
	}
	return r.fragment("delivery", "progress", &p)
}

// deliveryPage finds the delivery of the path; whole: with its event.
func (r *request) deliveryPage(whole bool) (p deliveryPage, err error) {
	err = r.view(func(tx store.Tx) error {
		d, e, err := store.FindDelivery(tx, r.org.ID, r.param(deliveryParam))
		if err != nil {
			return err
		}
		p = deliveryPage{Delivery: d, Endpoint: e, State: d.StateAt(&e), UserAgent: "teamdata/" + r.s.config.Version}
		p.History = slices.Clone(d.History)
		slices.Reverse(p.History)
		p.Kept = len(d.History) == store.MaxHistory
		if !whole {
			return nil
		}
		return r.addEvent(tx, &p)
	})
	return p, err
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

func (r *request) replayDelivery() error {
	err := r.change(func(tx store.Tx) error {
		_, err := store.Replay(tx, r.actor(), r.org.ID, r.param(deliveryParam))
		return err
	})
	if err != nil {
		return err
	}
	return r.done("delivery-replayed", r.path("deliveries", r.param(deliveryParam)))
}
