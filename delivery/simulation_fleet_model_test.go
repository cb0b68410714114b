package delivery_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// parcel is a delivery, as the fleet knows it.
type parcel struct {
	id       string
	to       *endpoint
	body     string
	accepted bool // who asked for it was told
	claims   []*fleetClaim

	// Of those to be pulled:
	holds    []*hold
	ackAsked bool // a consumer acknowledged it, and may not know
	ackedAt  int  // the moment when a consumer knew; zero: none does
}

// fleetClaim is a delivery in the hands of a process, and its attempt.
type fleetClaim struct {
	p        *fleetProcess
	token    uint64
	until    time.Time
	released bool

	sent     bool
	end      time.Time // zero: the attempt goes on
	received bool      // the receiver took it
	acked    bool      // the process saw a 2xx
	recorded bool      // its outcome was committed, as far as the process was told
	fenced   bool      // its outcome was refused, since another node has the endpoint
}

func (f *fleet) parcel(id string, to *endpoint, body string) *parcel {
	d := f.parcels[id]
	if d == nil {
		d = &parcel{id: id, to: to, body: body}
		f.parcels[id] = d
	}
	if d.to != to || d.body != body {
		f.breaksLocked(arrival, "%s is to %s as %s, and was to %s as %s", id, to.name, body, d.to.name, d.body)
	}
	return d
}

// claims checks what a process claims.
func (p *fleetProcess) claims(claims *store.Claims, now time.Time) {
	f := p.node.f
	f.mu.Lock()
	defer f.mu.Unlock()
	to := f.byNumber[claims.Fence.Endpoint]
	for i := range claims.Claims {
		c := &claims.Claims[i]
		if to == nil || to.pull || c.Delivery.DueAt.After(now) {
			f.breaksLocked(schedule, "%s is claimed at %s, and is due at %s", c.Delivery.ID, now, c.Delivery.DueAt)
			return
		}
		d := f.parcel(c.Delivery.ID, to, string(c.Body))
		f.checkClaim(d, p, claims.Fence.Token)
		f.checkCount(d, &c.Delivery)
		d.claims = append(d.claims, &fleetClaim{p: p, token: claims.Fence.Token, until: claims.Until})
		if p.open[to]++; p.open[to] > fleetWindow {
			f.breaksLocked(schedule, "%s has %d attempts to %s in flight", p.node.name, p.open[to], to.name)
		}
	}
}

// checkClaim checks that nobody else may attempt what is claimed.
func (f *fleet) checkClaim(d *parcel, p *fleetProcess, token uint64) {
	for _, c := range d.claims {
		switch {
		case c.acked && c.recorded:
			f.breaksLocked(duplicates, "%s is claimed, which was acknowledged", d.id)
		case !c.released && c.p == p:
			f.breaksLocked(schedule, "%s is claimed twice by %s", d.id, p.node.name)
		case !c.released && c.token >= token:
			f.breaksLocked(exclusive, "%s is claimed by %s under the token %d, while %s has it under %d", d.id, p.node.name, token, c.p.node.name, c.token)
		}
	}
}

// checkCount checks that a delivery shows the attempts that were recorded, and none that
// was not made.
func (f *fleet) checkCount(d *parcel, is *store.Delivery) {
	least, most, last := 0, 0, time.Time{}
	for _, c := range d.claims {
		if c.recorded {
			least++
			last = latest(last, c.end)
		}
		if !c.end.IsZero() && !c.fenced {
			most++
		}
	}
	if n := len(is.History); n < least || n > most {
		f.breaksLocked(duplicates, "%s shows %d attempts; %d were recorded, and %d made", d.id, n, least, most)
	}
	if f.settled || f.jumps > 0 || is.Attempts == 0 || last.IsZero() {
		return
	}
	if pause := is.DueAt.Sub(last) + 3*tick; pause < f.schedule[is.Attempts-1] {
		f.breaksLocked(schedule, "%s is due %s after its attempt %d", d.id, pause, is.Attempts)
	}
}

// recorded notes how it ended that a process wrote an outcome.
func (p *fleetProcess) recorded(scope store.Scope, fenced bool, err error) {
	f := p.node.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && fenced {
		f.breaksLocked(exclusive, "%s wrote the outcome of %v, when another node had the endpoint", p.node.name, scope.Deliveries)
	}
	if scope.Fence.Token == 0 {
		return // it is no outcome
	}
	c := p.claim(scope.Deliveries[0])
	if c == nil || c.end.IsZero() {
		f.breaksLocked(schedule, "%s writes an outcome of %v, and no attempt has ended", p.node.name, scope.Deliveries)
		return
	}
	switch {
	case err == nil:
		c.recorded = true
	case store.CodeOf(err) == store.CodeFenced:
		c.fenced = true
		f.sum.fenced++
	}
	f.noteLocked("%s writes the outcome of %s: %v", p.node.name, scope.Deliveries[0], err)
}

// claim is the process's claim of a delivery; nil if it has none.
func (p *fleetProcess) claim(id string) *fleetClaim {
	if d := p.node.f.parcels[id]; d != nil {
		for _, c := range d.claims {
			if c.p == p && !c.released {
				return c
			}
		}
	}
	return nil
}

// release notes that a process is done with a delivery: only one that ends may drop an
// outcome.
func (p *fleetProcess) release(id string) {
	f := p.node.f
	f.mu.Lock()
	defer f.mu.Unlock()
	c := p.claim(id)
	if c == nil {
		return
	}
	c.released = true
	p.open[f.parcels[id].to]--
	if c.sent && !c.recorded && !c.fenced && !p.ending {
		f.breaksLocked(duplicates, "%s drops the outcome of %s", p.node.name, id)
	}
}

// fleetNetwork is what the dispatcher of a process sends through.
type fleetNetwork struct{ p *fleetProcess }

func (n fleetNetwork) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	r.Body.Close()
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	c, answer := n.p.arrives(r, string(body))
	if c == nil {
		return nil, io.ErrUnexpectedEOF
	}
	err = wait(r.Context(), answer.after)
	if n.p.gate(); err == nil {
		err = r.Context().Err() // a process that was paused may see the answer too late
	}
	if err == nil {
		err = answer.fault
	}
	if err != nil {
		n.p.ends(c, false)
		return nil, err
	}
	return &http.Response{
		StatusCode: answer.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, Header: http.Header{},
		Body: &answerBody{r.Context(), strings.NewReader("thanks"), answer.trickle, func() { n.p.ends(c, answer.status/100 == 2) }},
	}, nil
}

// arrives checks that an attempt may begin, and lets the receiver decide how to answer.
func (p *fleetProcess) arrives(r *http.Request, body string) (*fleetClaim, answer) {
	f := p.node.f
	f.mu.Lock()
	defer f.mu.Unlock()
	id := field(r.Header, "webhook-id")
	d, c := f.parcels[id], p.claim(id)
	if c == nil || c.sent {
		f.breaksLocked(schedule, "%s is sent by %s, which has not claimed it", id, p.node.name)
		return nil, answer{}
	}
	c.sent = true
	f.sum.attempts++
	f.checkSent(d, c, body)
	d.to.requests++
	answer := d.to.answer(f.seed, time.Since(f.born))
	c.received = answer.received
	f.noteLocked("%s is sent by %s to %s: %s", id, p.node.name, d.to.name, answer)
	return c, answer
}

func (f *fleet) checkSent(d *parcel, c *fleetClaim, body string) {
	if body != d.body {
		f.breaksLocked(arrival, "%s was accepted as %s and sent as %s", d.id, d.body, body)
	}
	if !time.Now().Before(c.until) {
		f.breaksLocked(exclusive, "%s is sent by %s, whose claim has ended", d.id, c.p.node.name)
	}
	again := false
	for _, other := range d.claims {
		if other.token > c.token {
			f.breaksLocked(exclusive, "%s is sent by %s, when %s has it", d.id, c.p.node.name, other.p.node.name)
		}
		again = again || other != c && other.received
	}
	if again {
		f.sum.twice++
	}
}

// ends is the end of an attempt.
func (p *fleetProcess) ends(c *fleetClaim, acked bool) {
	f := p.node.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if c.end.IsZero() {
		c.end, c.acked = time.Now(), acked
	}
}

// checkOverdue looks for what healthy receivers should have got by now, while all sleep.
func (f *fleet) checkOverdue() {
	if !f.isCalm() || f.isBroken() {
		return
	}
	overdue := f.database.overdue(3 * time.Second)
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, number := range overdue {
		if e := f.byNumber[number]; e.character.kind == healthy && !e.pull {
			f.breaksLocked(schedule, "%s to %s, which is well, is not sent", id, e.name)
		}
	}
}

// compare compares all that the store has with what was accepted.
func (f *fleet) compare() {
	f.mu.Lock()
	defer f.mu.Unlock()
	there := map[string]bool{}
	err := f.nodes[0].process.store.View(context.Background(), func(tx store.Tx) error {
		for _, e := range f.endpoints {
			for _, list := range append(slices.Clone(store.DeliveryLists), store.ListLeased) {
				page, more, err := tx.DeliveryPage(e.number, list, store.Cursor{}, 10_000)
				if err != nil || more {
					return err
				}
				for i := range page {
					there[page[i].ID] = true
					f.compareDelivery(e, &page[i])
				}
			}
		}
		for _, r := range f.readers {
			if err := f.compareLog(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		f.breaksLocked(commits, "the store can't be read: %v", err)
	}
	for id, d := range f.parcels {
		if d.accepted && !there[id] {
			f.breaksLocked(commits, "%s was accepted, and is not there", id)
		}
	}
	f.compareWishes(there)
}

// compareDelivery checks that a delivery arrived, whether or not who asked was told.
func (f *fleet) compareDelivery(e *endpoint, is *store.Delivery) {
	d := f.parcels[is.ID]
	if d != nil && e.pull {
		f.comparePulled(d, is)
		return
	}
	if d == nil || is.State != store.StateAcknowledged {
		f.breaksLocked(arrival, "%s to %s is %s in the end", is.ID, e.name, is.State)
		return
	}
	f.checkCount(d, is)
	for _, c := range d.claims {
		if c.acked && c.received {
			return
		}
	}
	f.breaksLocked(arrival, "%s is acknowledged, and %s did not get it", is.ID, e.name)
}
