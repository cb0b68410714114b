package store

import (
	"errors"
	"time"

	"teamdata/store/rows"
)

// Pulled is what is known of those who pull from an endpoint.
type Pulled struct {
	At       time.Time // when somebody did last, some 10 s behind; zero: never
	KeyID    string    // the API key that did
	WarnedAt time.Time // when owners and admins were mailed that nobody does; zero: never
	number   uint64    // of the endpoint
}

var lastPulled = rows.Define(&rows.Table[Pulled]{
	Kind: rows.Kind{Name: "lastPulled", Noun: "last pull", Owner: rows.NumberInKey},
	Key:  func(dst []byte, p *Pulled) []byte { return rows.Number(dst, p.number) },
	Fields: func(c *rows.Codec, p *Pulled) {
		c.Time(&p.At)
		c.Text(&p.KeyID)
		c.Time(&p.WarnedAt)
	},
	Complete: func(key []byte, p *Pulled) { p.number = rows.ReadNumber(key) },
	Checks:   func(c *rows.Checker, _ []byte, p *Pulled) { checkNumber(c, "lastPulled", p.number) },
})

// LastPulled returns what is known of those who pull from an endpoint.
func (t Tx) LastPulled(endpoint uint64) (Pulled, error) {
	p, err := findOrZero(lastPulled, t, rows.Number(t.Text(""), endpoint))
	p.number = endpoint
	return p, err
}

func (t Tx) PutLastPulled(p Pulled) error { return lastPulled.Put(t.Tx, &p) }

// pulledEvery is how often it is written who pulls from an endpoint, at most.
const pulledEvery = 10 * time.Second

// Outdated reports whether a pull at a time is to be written, whoever pulls: consumers with
// different keys would write at each pull.
func (p *Pulled) Outdated(now time.Time) bool {
	return now.Sub(p.At) >= pulledEvery || now.Before(p.At)
}

// unpulledFor is how long the oldest delivery of an endpoint waits until owners and admins
// are mailed: as long as one that can't be sent is tried.
const unpulledFor = 13 * time.Hour

// warnOfUnpulled queues mails about endpoints where the oldest delivery has waited for 13
// hours, one until something is acknowledged there.
func (w *sweep) warnOfUnpulled() {
	toWarn := func(tx Tx, e *Endpoint) (bool, error) {
		at, err := tx.unpulledSince(e)
		return !at.IsZero(), err
	}
	w.eachPulled(toWarn, func(tx Tx, e Endpoint) error {
		w.mailed = true
		at, err := tx.unpulledSince(&e)
		if err != nil || at.IsZero() {
			return err
		}
		p, err := tx.LastPulled(e.Number)
		if err != nil {
			return err
		}
		p.WarnedAt = tx.Now()
		if err := tx.PutLastPulled(p); err != nil {
			return err
		}
		return mailNotPulled(tx, &e, at, p.At)
	})
}

// unpulledSince is since when the oldest delivery of an endpoint has waited, if there is to
// be a mail about it; zero: there isn't.
func (t Tx) unpulledSince(e *Endpoint) (at time.Time, err error) {
	at, waits, err := t.firstDue(e.Number)
	if err != nil || !waits || e.Disabled() || t.Now().Sub(at) < unpulledFor {
		return time.Time{}, err
	}
	p, err := t.LastPulled(e.Number)
	if err != nil {
		return time.Time{}, err
	}
	acknowledged, err := t.LastAcknowledged(e.Number)
	if err != nil || !p.WarnedAt.IsZero() && !acknowledged.After(p.WarnedAt) {
		return time.Time{}, err
	}
	return at, nil
}

func mailNotPulled(tx Tx, e *Endpoint, waitingSince, pulledAt time.Time) error {
	org, err := tx.Org(e.OrgID)
	if err != nil {
		return err
	}
	values := map[string]string{
		"orgName": org.Name, "endpointId": e.ID, "endpointName": e.Label(),
		"waitingSince": FormatTime(waitingSince), "pulledAt": "",
	}
	if !pulledAt.IsZero() {
		values["pulledAt"] = FormatTime(pulledAt)
	}
	return mailManagers(tx, e.OrgID, MailNotPulled, values)
}

// eachPulled calls fn with each endpoint that is pulled and that wanted says yes to.
func (w *sweep) eachPulled(wanted func(Tx, *Endpoint) (bool, error), fn func(Tx, Endpoint) error) {
	w.eachOf(Tx.eachPulled, wanted, fn)
}

// eachOf calls fn with each of some endpoints that wanted says yes to, in a transaction of
// its org. Most have nothing to be done, and no transaction waits for that.
func (w *sweep) eachOf(some func(Tx, func(*Endpoint)) error, wanted func(Tx, *Endpoint) (bool, error), fn func(Tx, Endpoint) error) {
	if w.err != nil {
		return
	}
	var found []Endpoint
	w.err = w.store.View(w.ctx, func(tx Tx) (err error) {
		failed := some(tx, func(e *Endpoint) {
			if yes, failed := wanted(tx, e); yes {
				found = append(found, *e)
			} else if err == nil {
				err = failed
			}
		})
		return errors.Join(failed, err)
	})
	for _, e := range found {
		if w.err == nil {
			w.err = w.store.Update(w.ctx, InOrg(e.OrgID), func(tx Tx) error {
				now, err := tx.Endpoint(e.OrgID, e.ID)
				if err != nil || now.Number != e.Number {
					return unlessNotFound(err)
				}
				return fn(tx, now)
			})
		}
	}
}

// eachPulled calls fn with each endpoint that is pulled, with its secrets sealed.
func (t Tx) eachPulled(fn func(*Endpoint)) error { return t.eachBetween(FirstPull, 0, fn) }

// eachSent is eachPulled, for those that events are sent to.
func (t Tx) eachSent(fn func(*Endpoint)) error { return t.eachBetween(0, FirstPull, fn) }

// eachBetween calls fn with each endpoint with a number behind one and below another; 0: with
// any behind it.
func (t Tx) eachBetween(after, below uint64, fn func(*Endpoint)) error {
	for {
		some, err := t.endpointsBetween(after, below, endpointsAtOnce)
		for i := range some {
			fn(&some[i])
		}
		if err != nil || len(some) < endpointsAtOnce {
			return err
		}
		after = some[len(some)-1].Number
	}
}

// pulledAfter lists endpoints that are pulled, behind a number, with their secrets sealed.
func (t Tx) pulledAfter(number uint64, limit int) (found []Endpoint, err error) {
	return t.endpointsBetween(number, 0, limit)
}

func (t Tx) endpointsBetween(number, below uint64, limit int) (found []Endpoint, err error) {
	in := endpoints.Indexes[endpointNumbers]
	r := rows.Range{Index: endpointNumbers, Bounds: rows.Bounds{From: rows.Number(nil, number+1)}, Limit: limit, Records: true}
	if below > 0 {
		r.To = rows.Number(nil, below)
	}
	failed := t.Scan(&endpoints.Kind, r, func(item rows.Item) bool {
		var e Endpoint
		if e, err = ReadEndpoint(in.Record(nil, item.Key, item.Value), item.Record); err == nil {
			found = append(found, e)
		}
		return err == nil
	})
	if failed != nil {
		err = failed
	}
	return found, stored(err)
}
