package delivery_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// checkEndpoints compares what an Update did to endpoints with what it must do.
func (w *world) checkEndpoints(a *transaction, want *want) {
	var got []*endpoint
	for i := range a.endpoints {
		e := w.endpointOf(a.endpoints[i].OrgID, a.endpoints[i].ID)
		got = append(got, e)
		w.sameEndpoint(commits, a.who, e, &a.endpoints[i])
	}
	if !sameSet(got, want.endpoints) {
		w.breaksLocked(disabling, "%s changed the endpoints %s, not %s", a.who, names(got), names(want.endpoints))
	}
	if len(a.made) > 1 || (len(a.made) == 1) != (want.made != nil) {
		w.breaksLocked(commits, "%s made %d endpoints", a.who, len(a.made))
	}
	if len(a.removed) > 1 || (len(a.removed) == 1) != (want.removed != nil) || len(a.removed) == 1 && a.removed[0].Number != want.removed.number {
		w.breaksLocked(commits, "%s removed the endpoints %v", a.who, a.removed)
	}
}

// newEndpoint draws an endpoint that does not exist yet.
func (w *world) newEndpoint(o *org) (*endpoint, store.Endpoint) {
	e := &endpoint{orgID: o.id, character: newCharacter(w.Rand), selects: someOf(w.Rand,
		"file.uploaded", "file.uploaded", "member.added", "member.changed", "member.removed", "webhook.test", "subscription.changed")}
	if w.IntN(4) == 0 {
		e.selects = someOf(w.Rand, "file.*", "member.*", "*", "member.added")
	}
	w.places++
	e.name = fmt.Sprintf("e%d(%s)", w.places, e.character.kind)
	if e.pull = w.IntN(3) == 0; e.pull {
		e.name = fmt.Sprintf("e%d(pulled)", w.places)
		return e, store.Endpoint{OrgID: o.id, Events: e.selects}
	}
	e.drawOptions(rand.New(rand.NewPCG(w.seed, uint64(w.places))))
	return e, store.Endpoint{OrgID: o.id, URL: fmt.Sprintf("https://e%d.example/hook", w.places), Events: e.selects, Sending: e.options}
}

// drawOptions gives some endpoints a rate, a cap of attempts in flight, a header, or several
// of these.
func (e *endpoint) drawOptions(r *rand.Rand) {
	if r.IntN(3) == 0 {
		e.options.Rate = pick(r, []string{"1/s", "3/s", "20/s", "30/min", "200/min"})
		e.name += " by " + e.options.Rate
	}
	if r.IntN(4) == 0 {
		e.options.MaxInFlight = 1 + r.IntN(4)
		e.name += fmt.Sprint(" by ", e.options.MaxInFlight)
	}
	if token := drawToken(r); token != "" {
		e.options.SetHeaders([]string{tokenHeader}, []string{token})
	}
}

const tokenHeader = "X-Token"

// drawToken is the value of an endpoint's header, or empty.
func drawToken(r *rand.Rand) string { return pick(r, []string{"", "", "a", "b"}) }

// checkRate checks that an attempt may begin by its endpoint's rate, and notes it.
func (w *world) checkRate(e *endpoint) {
	if e.options.Rate == "" {
		return
	}
	n, per, _ := store.ParseRate(e.options.Rate)
	now := floorMs(time.Now())
	if i := len(e.began) - n; i >= 0 && now.Sub(e.began[i]) < per {
		w.breaksLocked(schedule, "%d attempts to %s began within %s", n+1, e.name, now.Sub(e.began[i]))
	}
	e.began = append(e.began, now)
}

// mayWait reports whether an endpoint's owner may have chosen that a delivery waits there:
// the rate may be used up by attempts that began, or were reserved when something failed.
func (e *endpoint) mayWait() bool {
	if e.options.MaxInFlight > 0 && e.claimed > 0 {
		return true
	}
	if e.options.Rate == "" || e.reservedAt.IsZero() {
		return false
	}
	last := e.reservedAt
	if n := len(e.began); n > 0 {
		last = latest(last, e.began[n-1])
	}
	_, per, _ := store.ParseRate(e.options.Rate)
	return time.Since(last) < 2*(per+store.MaxGrantTime)
}

// reserves notes that attempts are being reserved at an endpoint. They count even if the
// program is killed before one begins.
func (w *world) reserves(orgID, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, e := range w.endpoints {
		if e.orgID == orgID && e.id == id {
			e.reservedAt = time.Now()
		}
	}
}

// begins adds an endpoint that is made to the model.
func (w *world) begins(a *transaction, o *org, e *endpoint, made store.Endpoint) {
	e.id, e.number, e.urls, e.keys = made.ID, made.Number, []address{{a, made.URL, made.Sending.HeaderLines}}, []keys{{by: a, secret: made.Secret}}
	if w.endpointByNumber(e.number) != nil || w.now(e) != nil {
		w.breaksLocked(commits, "%s of %s is made with the number %d and the id %s, which another has", e.name, o.id, e.number, e.id)
	}
	o.endpoints, w.endpoints = append(o.endpoints, e), append(w.endpoints, e)
	w.noteLocked("%s of %s has the number %d, the id %s and %s", e.name, o.id, e.number, e.id, strings.Join(e.selects, ", "))
}

// makeEndpoint makes an endpoint, mostly under the id of one that the org had.
func (w *world) makeEndpoint(o *org) {
	e, wish := w.newEndpoint(o)
	if before := w.anEndpoint(o); w.IntN(4) > 0 {
		wish.ID = before.id
	}
	f := w.as("making "+e.name, func(a *transaction) (want want) {
		if len(a.made) != 1 {
			return want
		}
		w.begins(a, o, e, a.made[0])
		want.made, want.audits = e, []string{"endpoint.created " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.CreateEndpoint(tx, "", wish)
			return err
		}, store.CodeConflict)
	})
}

func (w *world) removeEndpoint(e *endpoint) {
	f := w.as("removing "+e.name, func(a *transaction) (want want) {
		e := w.now(e)
		e.removedBy = a
		o := w.org(e.orgID)
		o.endpoints = slices.DeleteFunc(o.endpoints, func(other *endpoint) bool { return other == e })
		want.removed, want.audits = e, []string{"endpoint.removed " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error { return store.RemoveEndpoint(tx, "", e.orgID, e.id) }, store.CodeNotFound)
	})
}

// moveEndpoint gives an endpoint another address and header, or those that it has.
func (w *world) moveEndpoint(e *endpoint) {
	w.places++
	url := fmt.Sprintf("https://e%d.example/hook", w.places-w.IntN(2))
	headers := map[string]*string{tokenHeader: nil}
	token := drawToken(rand.New(rand.NewPCG(w.seed, uint64(w.places))))
	if token != "" {
		headers[tokenHeader] = &token
	}
	f := w.as(fmt.Sprintf("moving %s to %s with the token %q", e.name, url, token), func(a *transaction) (want want) {
		e := w.now(e)
		if now := e.urls[len(e.urls)-1]; now.url == url && now.token == token {
			return want
		}
		e.urls = append(e.urls, address{a, url, token})
		want.endpoints, want.audits = []*endpoint{e}, []string{"endpoint.changed " + e.id}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.ChangeEndpoint(tx, "", e.orgID, e.id, store.EndpointChange{URL: &url, Sending: store.SendChange{Headers: headers}})
			return err
		}, store.CodeNotFound, store.CodeBadRequest) // one that is pulled has none
	})
}

func (e *endpoint) url() string { return e.urls[len(e.urls)-1].url }

// checkAddress checks that a delivery goes to an address that its endpoint has, or
// had when the delivery was claimed, with the header of then.
func (w *world) checkAddress(p *modelDelivery, url, token string) {
	urls := p.to.urls
	for i := len(urls) - 1; i >= 0; i-- {
		if urls[i].url == url && urls[i].token == token {
			return
		}
		if by := urls[i].by; by == nil || by.returned && by.returnedAt.Before(p.claimedAt) {
			break // an older one is no excuse
		}
	}
	w.breaksLocked(arrival, "%s for %s was sent to %s with the token %q", p.name, p.to.url(), url, token)
}

// removedBefore reports whether the removal of an endpoint had returned before a
// time.
func (e *endpoint) removedBefore(t time.Time) bool {
	return e.removedBy != nil && e.removedBy.returned && e.removedBy.returnedAt.Before(t)
}

// setUp makes the orgs, their managers and their endpoints.
func (w *world) setUp() {
	w.api = &api{}
	err := w.store.Update(context.Background(), store.All, func(tx store.Tx) error {
		for i := range 2 + w.IntN(2) {
			if err := w.addOrg(tx, fmt.Sprintf("org_%d", i+1)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) addOrg(tx store.Tx, id string) error {
	o := &org{id: id, people: map[string]*person{}}
	w.orgs = append(w.orgs, o)
	if _, err := store.ImportOrg(tx, store.Org{ID: id, Name: id}); err != nil {
		return err
	}
	for _, role := range []string{store.RoleOwner, store.RoleAdmin} {
		m := store.Member{OrgID: id, UserID: "usr_" + role, Role: role, Email: role + "@" + id + ".example"}
		o.people[m.UserID] = &person{m.Role, m.Email}
		if _, err := store.ImportMember(tx, m); err != nil {
			return err
		}
	}
	for range 1 + w.IntN(2) {
		o.readers = append(o.readers, &poller{org: o})
	}
	for range 1 + w.IntN(3) {
		if err := w.addEndpoint(tx, o); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) addEndpoint(tx store.Tx, o *org) error {
	e, wish := w.newEndpoint(o)
	made, err := store.ImportEndpoint(tx, wish)
	w.begins(nil, o, e, made)
	return err
}

// someOf is the first of the names, or some of them; each once.
func someOf(r *rand.Rand, names ...string) []string {
	some := names[:1]
	for _, name := range names[1:] {
		if name != names[0] && r.IntN(2) == 0 {
			some = append(some[:len(some):len(some)], name)
		}
	}
	return some[min(r.IntN(3), len(some)-1):]
}
