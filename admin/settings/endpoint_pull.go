package settings

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"teamdata/store"
)

// silentAfter is how long nobody pulls while something waits until the page warns of it.
const silentAfter = time.Hour

// pulling is how an endpoint is pulled.
type pulling struct {
	store.Pulled
	By     person    // the API key that pulled last; zero: none did
	Oldest time.Time // since when the oldest delivery waits; zero: none that is due does
}

func pullingOf(tx store.Tx, e *store.Endpoint) (p pulling, err error) {
	if p.Pulled, err = tx.LastPulled(e.Number); err != nil {
		return p, err
	}
	first, _, err := tx.DeliveryPage(e.Number, store.ListWaiting, store.Cursor{}, 1)
	if len(first) > 0 && !first[0].DueAt.After(tx.Now()) {
		p.Oldest = first[0].DueAt
	}
	return p, err
}

// silent reports whether nobody pulls what waits.
func (p pulling) silent(now time.Time) bool {
	return !p.Oldest.IsZero() && now.Sub(later(p.Oldest, p.At)) >= silentAfter
}

// judgePulled finds the state of an endpoint that is pulled: nothing fails there, but it may
// be that nobody comes.
func (h *health) judgePulled(r *request, tx store.Tx, e *store.Endpoint) (err error) {
	if h.Pull, err = pullingOf(tx, e); err != nil || e.Disabled() {
		return err
	}
	if h.Pull.silent(r.Now) {
		h.State = stateSilent
	}
	if h.Pull.KeyID != "" {
		h.Pull.By, err = r.key(tx, h.Pull.KeyID)
	}
	return err
}

// key finds an API key as a page names it. Each is looked up once in a request.
func (r *request) key(tx store.Tx, id string) (person, error) {
	if known, ok := r.pullers[id]; ok {
		return known, nil
	}
	k, err := store.FindKey(tx, r.Org.ID, id)
	p := person{ID: id, Name: cmp.Or(k.Name, id), Path: r.path("keys", id)}
	if store.IsNotFound(err) {
		p.Path, err = "", nil
	}
	if r.pullers == nil {
		r.pullers = map[string]person{}
	}
	r.pullers[id] = p
	return p, err
}

// fillPulled fills in who pulled a delivery last.
func (r *request) fillPulled(tx store.Tx, d *deliveryRow) (err error) {
	id := d.Lease().KeyID
	if id == "" && d.Last != nil {
		id = d.Last.KeyID
	}
	if d.Leased = d.Delivery.Lease().EndsAt.After(r.Now); id != "" {
		d.By, err = r.key(tx, id)
	}
	return err
}

// StateName is the state as people see it. One that is pulled is waiting, leased, given back,
// held, failed or acknowledged: after a lease that has ended it waits as before.
func (d deliveryRow) StateName() string {
	switch {
	case !d.Endpoint.Pull() || d.State == store.StateHeld:
		return d.State.String()
	case d.State == store.StateLeased && d.Leased:
		return "leased"
	case d.State == store.StateRetrying && d.Last != nil && !d.Last.TimedOut:
		return "back"
	case d.State.Finished():
		return d.State.String()
	}
	return "waiting"
}

// Said is what became of the last time that the delivery was pulled; empty: it is leased.
func (d deliveryRow) Said() string {
	if d.Last == nil || d.Leased {
		return ""
	}
	return d.Summary()
}

// Pulled is how many times the delivery was pulled, as far as that is kept.
func (d deliveryRow) Pulled() int {
	n := len(d.History)
	if d.Delivery.State == store.StateLeased {
		n++
	}
	return n
}

// maxLeased is how far deliveries that are leased are counted.
const maxLeased = 100

// pulledPage is what the page of an endpoint that is pulled says of that.
type pulledPage struct {
	Leased    int
	More      bool      // more are leased
	LeaseEnds time.Time // when the last of the leases ends
	GivenBack int       // in the span
	Key       *keyRow   // that pulled last; nil: none did, or it is gone
	Mailed    time.Time // when owners and admins were told that nobody pulls; zero: they weren't
	KeptUntil time.Time // the oldest delivery that waits; zero: none does
}

// OldestFor is for how long the oldest delivery has waited.
func (p endpointPage) OldestFor() string {
	d := p.now.Sub(p.Head.Health.Pull.Oldest)
	if d >= 2*wholeDay {
		return strconv.Itoa(int(d/wholeDay)) + " days"
	}
	return formatLasted(d)
}

// Prompt reports whether it has not waited for long.
func (p endpointPage) Prompt() bool { return p.now.Sub(p.Head.Health.Pull.Oldest) < time.Minute }

// JustPulled reports whether somebody has pulled in this second.
func (p endpointPage) JustPulled() bool { return p.now.Sub(p.Head.Health.Pull.At) < time.Second }

// Fresh reports whether somebody has pulled in the last minute.
func (p endpointPage) Fresh() bool { return p.now.Sub(p.Head.Health.Pull.At) < time.Minute }

// SilentFor is for how long nobody has pulled, without what makes no difference.
func (p endpointPage) SilentFor() string {
	d := p.now.Sub(p.Head.Health.Pull.At)
	switch hours := int(d.Hours()); {
	case d >= 2*wholeDay:
		return strconv.Itoa(int(d/wholeDay)) + " days"
	case hours == 1:
		return "an hour"
	default:
		return strconv.Itoa(hours) + " hours"
	}
}

// LeasedText formats how many are leased.
func (p pulledPage) LeasedText() string { return formatCount(p.Leased, p.More) }

func (p *endpointPage) findPulled(r *request, tx store.Tx) error {
	e, h := &p.Head.Endpoint, &p.Head.Health
	leased, more, err := tx.DeliveryPage(e.Number, store.ListLeased, store.Cursor{}, maxLeased)
	leased = slices.DeleteFunc(leased, func(d store.Delivery) bool { return !d.Lease().EndsAt.After(r.Now) })
	if p.Pull.Leased, p.Pull.More = len(leased), more; len(leased) > 0 {
		p.Pull.LeaseEnds = leased[0].Lease().EndsAt
	}
	p.Pull.GivenBack = p.Sum.Unsuccessful()
	if err != nil || h.State != stateSilent {
		return err
	}
	p.Pull.KeptUntil = h.Pull.Oldest.Add(r.s.config.HeldRetention)
	if r.s.config.Mailed != nil && h.Pull.WarnedAt.After(h.LastAcknowledged) {
		p.Pull.Mailed = h.Pull.WarnedAt
	}
	if h.Pull.KeyID == "" {
		return nil
	}
	k, err := store.FindKey(tx, r.Org.ID, h.Pull.KeyID)
	if err != nil {
		if store.IsNotFound(err) {
			err = nil
		}
		return err
	}
	row, err := r.keyRow(tx, k)
	p.Pull.Key = &row
	return err
}

// maxPassages is how many deliveries a chart of what came and went is made of at most.
const maxPassages = 20_000

// findFlow draws what came and went, if that was not too much to read.
func (p *endpointPage) findFlow(r *request, tx store.Tx) error {
	s := newTimeSeries(r.Now, p.Span.Step, p.Span.steps, r.zone())
	f := flow{s, make([]int, len(s.Points)), nil}
	whole, err := tx.EachPassage(p.Head.Number, s.Points[0].From, maxPassages, f.add)
	if whole && err == nil {
		p.Charts = []chart{f.receivedChart(p.Span), f.waitingChart(p.Span)}
	}
	return err
}
