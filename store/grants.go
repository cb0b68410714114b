package store

import (
	"cmp"
	"slices"
	"time"

	"teamdata/store/rows"
)

// Grant is attempts that an endpoint's rate counts: N that began from From until To, or, as
// long as nobody has said when, that may begin then. They count until a period after To.
type Grant struct {
	From time.Time // to the millisecond
	To   time.Time // rounded up to the millisecond
	N    int       // of attempts
}

// granted is what an endpoint's rate counts.
type granted struct {
	number uint64
	Grants []Grant // in order of their ends
}

// grants are reserved before attempts begin, so that a crash can lose some of them, and none
// can begin that does not count.
var grants = rows.Define(&rows.Table[granted]{
	Kind: rows.Kind{Name: "grants", Noun: "granted attempt", Rewritten: true, Owner: rows.NumberInKey},
	Key:  func(dst []byte, g *granted) []byte { return rows.Number(dst, g.number) },
	Fields: func(c *rows.Codec, g *granted) {
		rows.List(c, &g.Grants, func(c *rows.Codec, one *Grant) { rows.Inner(c, grantFields, one) })
	},
	Complete: func(key []byte, g *granted) { g.number = rows.ReadNumber(key) },
	Checks:   func(c *rows.Checker, _ []byte, g *granted) { checkNumber(c, "grants", g.number) },
})

func grantFields(c *rows.Codec, g *Grant) {
	c.Time(&g.From)
	c.Time(&g.To)
	c.Int(&g.N)
}

// Bounds of the time in which reserved attempts may begin. What a crash leaves reserved
// counts for so much longer.
const (
	minGrantTime = time.Second
	MaxGrantTime = 5 * time.Second
)

// grantTime is a twentieth of a rate's period, within the bounds.
func grantTime(per time.Duration) time.Duration {
	return min(max(per/20, minGrantTime), MaxGrantTime)
}

// maxGrants is how many attempts are reserved at once, at most: more would only be lost in a
// crash.
const maxGrants = 64

// GrantSize is how many attempts a rate of n reserves at once, at most.
func GrantSize(n int) int { return min(max(n/10, 1), maxGrants) }

// manyGrants is how many grants are kept apart, at least. Of more, neighbors that began
// within a hundredth of the period count as one that began with the last of them.
const manyGrants = 100

// MergeGrants orders grants, and unites neighbors if they are many; per is the period of the
// rate.
func MergeGrants(all []Grant, per time.Duration) []Grant {
	slices.SortStableFunc(all, func(a, b Grant) int { return cmp.Or(a.To.Compare(b.To), a.From.Compare(b.From)) })
	if len(all) <= manyGrants {
		return all
	}
	merged := all[:1]
	for _, g := range all[1:] {
		last := &merged[len(merged)-1]
		if from := earliest(last.From, g.From); g.To.Sub(from) <= per/100 {
			*last = Grant{from, g.To, last.N + g.N}
		} else {
			merged = append(merged, g)
		}
	}
	return merged
}

// NextGrant is when the next attempts may begin after those that were granted, by a rate of n
// in each period: as many as a hundredth of the rate, and one at least. Zero: at once.
func NextGrant(all []Grant, n int, per time.Duration) (at time.Time) {
	over := granted{Grants: all}.count() + max(n/100, 1) - n
	for _, g := range all { // in order of To
		if over <= 0 {
			break
		}
		at, over = g.To.Add(per), over-g.N
	}
	return at
}

func (g granted) count() (n int) {
	for _, one := range g.Grants {
		n += one.N
	}
	return n
}

// Reservation is the result of ReserveAttempts.
type Reservation struct {
	Rate     string  // that the endpoint has now; empty: none, so any number may begin
	Reserved Grant   // with an N of 0 if none may begin now
	Others   []Grant // what else counts
}

// ReserveAttempts reserves attempts at an endpoint with a rate, up to its GrantSize: they count from its commit on, whether they begin or not. Who has an earlier
// reservation whose time is over, or all of whose attempts have begun, says how many did, and
// when. now is the clock by which attempts begin. notFound: the endpoint was removed.
func ReserveAttempts(tx Tx, e *Endpoint, now time.Time, earlier Grant, begun []Grant) (r Reservation, err error) {
	current, err := tx.Endpoint(e.OrgID, e.ID)
	if err == nil && current.Number != e.Number {
		err = missing(endpoints, rows.ErrNone)
	}
	if err != nil || current.Sending.Rate == "" {
		return r, err
	}
	r.Rate = current.Sending.Rate
	n, per, err := ParseRate(r.Rate)
	if err != nil {
		return r, err
	}
	g, err := findOrZero(grants, tx, rows.Number(tx.Text(""), e.Number))
	if err != nil {
		return r, err
	}
	g.number = e.Number
	from, until := toMillisecond(now), toMillisecond(now.Add(grantTime(per)))
	changed := g.settle(earlier, begun)
	changed = g.judge(now, until, per) || changed
	g.Grants = MergeGrants(g.Grants, per)
	r.Others = slices.Clone(g.Grants)
	if at := NextGrant(g.Grants, n, per); !at.After(now) {
		r.Reserved = Grant{from, until, min(GrantSize(n), n-g.count())}
		g.Grants, changed = append(g.Grants, r.Reserved), true // nothing is later
	}
	if changed {
		err = grants.Put(tx.Tx, &g)
	}
	return r, err
}

// settle replaces a reservation by what came of it. One that is not there as it was is
// counted in another way already.
func (g *granted) settle(earlier Grant, begun []Grant) bool {
	i := slices.IndexFunc(g.Grants, func(one Grant) bool {
		return one.N == earlier.N && one.From.Equal(earlier.From) && one.To.Equal(earlier.To)
	})
	if i >= 0 {
		g.Grants = append(slices.Delete(g.Grants, i, i+1), begun...)
	}
	return i >= 0
}

// judge drops what counts no more. What is ahead of all that can be reserved now is of a time
// before the clock was set back: it counts as if it had been reserved now.
func (g *granted) judge(now, until time.Time, per time.Duration) (changed bool) {
	g.Grants = slices.DeleteFunc(g.Grants, func(one Grant) bool { return !one.To.Add(per).After(now) })
	for i := range g.Grants {
		if one := &g.Grants[i]; one.To.After(until) {
			one.From, one.To, changed = earliest(one.From, until), until, true
		}
	}
	return changed
}

// WaitsForRate returns when the next attempt at an endpoint may begin at the latest, if
// something is due there, is not under way in this process, and its rate is used up; zero: it
// doesn't wait for its rate.
func WaitsForRate(tx Tx, e *Endpoint, now time.Time) (at time.Time, err error) {
	if e.Sending.Rate == "" || e.Disabled() {
		return at, nil
	}
	waits := false
	r := listOf(e.Number, ListWaiting)
	r.Limit = MaxInFlight + 1
	err = tx.Scan(&deliveries.Kind, r, func(item rows.Item) bool {
		due := !DueAt(item.Key).After(now)
		waits = due && !tx.IsClaimed(PositionOf(item.Key).ID)
		return due && !waits
	})
	if err != nil || !waits {
		return at, stored(err)
	}
	n, per, err := ParseRate(e.Sending.Rate)
	if err != nil {
		return at, err
	}
	g, err := findOrZero(grants, tx, rows.Number(tx.Text(""), e.Number))
	g.judge(now, toMillisecond(now.Add(grantTime(per))), per)
	if at = NextGrant(g.Grants, n, per); !at.After(now) {
		at = time.Time{}
	}
	return at, err
}
