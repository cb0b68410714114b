package settings

import (
	"slices"

	"teamdata/store"
)

// deliveryPage is the data of delivery.html.
type deliveryPage struct {
	deliveryRow
	Shown   []attemptShown // the attempts that are kept, newest first
	Kept    bool           // earlier attempts are no longer kept
	Manages bool           // the person may replay it, and so also send it by a command that is copied
	Payload payload
	Curl    string        // that command; empty for whoever may not
	Others  []deliveryRow // of the same event, to other endpoints
}

// Done reports whether no further attempt is to come. That of a held one is not, until
// its endpoint is enabled.
func (p deliveryPage) Done() bool { return p.Delivery.State.Finished() }

// Next is the number of the next attempt.
func (p deliveryPage) Next() int { return p.Attempts + 1 }

// Result is what the last attempt got, as a sentence goes on.
func (p deliveryPage) Result() string {
	switch a := p.Last; {
	case a.Status == 0:
		return "got no answer: " + a.Reason
	default:
		return "got " + statusText(a.Status) + " after " + formatDuration(a.Took())
	}
}

// attemptShown is an attempt with its number, counted from the first that is kept.
type attemptShown struct {
	store.Attempt
	Number int
	Sent   []string // the headers that sign it; none for whoever sees no signature
	By     person   // the API key that pulled it; zero: it was sent
}

// Summary is what became of it, beside its status.
func (a attemptShown) Summary() string { return attemptSummary(&a.Attempt) }

func (r *request) showDelivery() error {
	var p deliveryPage
	return r.Show(200, "delivery", &p, func(tx store.Tx) error {
		if err := r.findDelivery(tx, &p); err != nil {
			return err
		}
		event, err := tx.Event(p.EventID)
		if err == nil {
			err = p.sign(event.Body)
		}
		if err != nil || r.isLive() {
			return err
		}
		return r.addEvent(tx, &p, event)
	})
}

// findDelivery fills in the delivery of the path, without its event.
func (r *request) findDelivery(tx store.Tx, p *deliveryPage) error {
	d, e, err := store.FindDelivery(tx, r.Org.ID, r.Param("delivery"))
	if err != nil {
		return err
	}
	return p.fill(r, tx, d, &e)
}

func (p *deliveryPage) fill(r *request, tx store.Tx, d store.Delivery, e *store.Endpoint) (err error) {
	p.deliveryRow, err = r.newRow(tx, d, e)
	for i, a := range slices.Backward(d.History) {
		shown := attemptShown{Attempt: a, Number: i + 1}
		if a.KeyID != "" && err == nil {
			shown.By, err = r.key(tx, a.KeyID)
		}
		p.Shown = append(p.Shown, shown)
	}
	p.Kept, p.Manages = len(d.History) == store.MaxHistory, r.Member.Manages()
	return err
}

// sign fills in what signed each attempt.
func (p *deliveryPage) sign(body []byte) (err error) {
	for i := range p.Shown {
		if a := &p.Shown[i]; p.Manages && err == nil {
			a.Sent, err = signedHeaders(p.deliveryRow, a.StartedAt, body)
		}
	}
	return err
}

func (r *request) addEvent(tx store.Tx, p *deliveryPage, event store.Event) (err error) {
	p.Payload = r.payload(event.Body)
	if p.Manages && !p.Endpoint.Pull() {
		if p.Curl, err = r.deliveryCurl(p.deliveryRow, event.Body); err != nil {
			return err
		}
	}
	p.Others, err = r.deliveriesOf(tx, event)
	p.Others = slices.DeleteFunc(p.Others, func(d deliveryRow) bool { return d.ID == p.ID })
	return err
}
