package delivery

import (
	"slices"
	"sync"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
)

// pacer hands out the attempts that an endpoint's rate allows. They are reserved in the store
// before they begin, so that neither a crash nor another node lets more begin.
type pacer struct {
	reserving chan struct{} // has a token while an attempt is handed out

	mu      sync.Mutex // held for moments only, since the dispatcher asks
	rate    string     // under which the rest was reserved
	n       int
	per     time.Duration
	latest  store.Grant   // the latest reservation; its N is 0 if there is none
	left    int           // attempts of it that have not begun
	begun   []store.Grant // those that have
	others  []store.Grant // what else counts
	told    bool          // a reservation was asked for that may count what has begun
	retryAt time.Time     // nothing is reserved before, since that failed; zero: it did not
}

func newPacer() *pacer { return &pacer{reserving: make(chan struct{}, 1)} }

// waitsUntil returns when the next attempt may begin by a rate; zero: perhaps now. A time
// further ahead than the rate's period is of before the clock was set back.
func (p *pacer) waitsUntil(now time.Time, rate string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retryAt.After(now) && p.retryAt.Sub(now) <= claimPause {
		return p.retryAt
	}
	if p.rate != rate || p.left > 0 && p.holds(now) {
		return time.Time{}
	}
	at := p.latest.From // the clock may have been set back by a moment
	if p.left == 0 || !at.After(now) {
		at = store.NextGrant(store.MergeGrants(slices.Concat(p.others, p.begun), p.per), p.n, p.per)
	}
	if !at.After(now) || at.Sub(now) > p.per+store.MaxGrantTime {
		return time.Time{}
	}
	return at
}

// holds reports whether attempts of the latest reservation may begin at a time.
func (p *pacer) holds(now time.Time) bool {
	return !now.Before(p.latest.From) && now.Before(p.latest.To)
}

// begin returns when an attempt that was reserved begins; zero: none was.
func (p *pacer) begin(now func() time.Time, rate string) (at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at = now(); p.left == 0 || p.rate != rate || !p.holds(at) {
		return time.Time{}
	}
	p.left--
	ms := at.UTC().Truncate(time.Millisecond)
	p.begun = store.MergeGrants(append(p.begun, store.Grant{From: ms, To: ms.Add(time.Millisecond), N: 1}), p.per)
	return at
}

// giveBack lets another attempt begin instead of one that began at a time and sent nothing. Of
// an earlier reservation nothing is given back, nor of one that the next may have counted in the
// store by now.
func (p *pacer) giveBack(at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.told {
		return
	}
	ms := at.UTC().Truncate(time.Millisecond)
	if i := slices.IndexFunc(p.begun, func(g store.Grant) bool { return g.N == 1 && g.From.Equal(ms) }); i >= 0 {
		p.begun = slices.Delete(p.begun, i, i+1)
		p.left++
	}
}

// reserved notes the outcome of a reservation.
func (p *pacer) reserved(r store.Reservation, err error, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.retryAt = (time.Time{}); err != nil {
		p.retryAt = now.Add(claimPause)
		return
	}
	p.told = false
	p.rate, p.latest, p.left, p.begun, p.others = r.Rate, r.Reserved, r.Reserved.N, nil, r.Others
	p.n, p.per, _ = store.ParseRate(r.Rate)
}

// begin waits for the turn of an attempt at an endpoint with a rate, and for the commit by
// which it may begin. It returns when it began; zero: it is not to be made now. lost says
// that another node has the delivery by now, or that the endpoint is gone.
func (d *Dispatcher) begin(j job) (at time.Time, lost bool) {
	p, rate := j.pacer, j.claims.Endpoint.Sending.Rate
	select {
	case p.reserving <- struct{}{}:
		defer func() { <-p.reserving }()
	case <-j.ctx.Done():
		return at, true
	}
	now := d.config.Now()
	if at = p.begin(d.config.Now, rate); !at.IsZero() || !p.waitsUntil(now, rate).IsZero() {
		return at, false
	}
	r, err := d.reserve(j)
	if store.IsNotFound(err) || store.CodeOf(err) == store.CodeFenced || j.ctx.Err() != nil {
		return at, true
	}
	if err != nil {
		d.config.Log.Error().Fields(hint.Fields(err)).Msg("attempts at an endpoint with a rate can't be reserved; trying again")
	}
	if p.reserved(r, err, now); err == nil && r.Rate == "" {
		return d.config.Now(), false // its rate was removed since the claim
	}
	return p.begin(d.config.Now, r.Rate), false
}

// reserve reserves attempts, by the rate that the endpoint has now.
func (d *Dispatcher) reserve(j job) (r store.Reservation, err error) {
	e, p := &j.claims.Endpoint, j.pacer
	scope := store.Scope{Orgs: []string{e.OrgID}, Paced: e.ID, Fence: j.claims.Fence}
	p.mu.Lock()
	earlier, begun := p.latest, p.begun
	p.told = true
	p.mu.Unlock()
	err = d.store.Update(j.ctx, scope, func(tx store.Tx) (err error) {
		r, err = store.ReserveAttempts(tx, e, d.config.Now(), earlier, begun)
		return err
	})
	return r, err
}
