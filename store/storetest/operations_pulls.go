package storetest

import (
	"fmt"
	"strings"
	"time"

	"teamdata/store"
)

// ofPulls are what consumers do, mostly with what an endpoint has that is pulled.
var ofPulls = []generator{
	{"pull", func(h *history) rule {
		key, endpoint := h.consumer()
		r := store.PullRequest{Key: key, Limit: 1 + h.IntN(4), Lease: pick(h, []time.Duration{store.MinLease, store.DefaultLease, store.MaxLease})}
		for range h.IntN(3) {
			r.Ack = append(r.Ack, h.deliveryOf(key.OrgID, endpoint))
		}
		return h.comparing(func(tx store.Tx) (string, error) {
			want := h.oracle.pullable(tx, key.OrgID, endpoint, r)
			got, err := store.Pull(tx, endpoint, r)
			if ids := fmt.Sprint(deliveryIDs(got)); err == nil && h.isOracle(tx) && ids != want {
				h.Errorf("a pull of %q from %q got %s, and by a look at all it is %s", key.OrgID, endpoint, ids, want)
			}
			return showClaims(got), err
		})
	}},
	{"acknowledge", func(h *history) rule {
		key, endpoint := h.consumer()
		ids := []string{h.deliveryOf(key.OrgID, endpoint), h.deliveryOf(key.OrgID, endpoint)}[:1+h.IntN(2)]
		return func(tx store.Tx) error { return store.AckDeliveries(tx, key, endpoint, ids) }
	}},
	{"give back", func(h *history) rule {
		key, endpoint := h.consumer()
		delay := maybe(h, pick(h, []time.Duration{0, time.Second, store.MaxNackDelay}))
		return h.withLeases(key, endpoint, func(tx store.Tx, of []store.LeaseOf) error {
			return store.NackDeliveries(tx, key, endpoint, of, "not now", delay, store.DefaultRetrySchedule[:2])
		})
	}},
	{"extend leases", func(h *history) rule {
		key, endpoint := h.consumer()
		lasts := pick(h, []time.Duration{store.MinLease, store.MaxLease})
		return h.withLeases(key, endpoint, func(tx store.Tx, of []store.LeaseOf) error {
			return second(store.ExtendLeases(tx, key, endpoint, of, lasts))
		})
	}},
	{"create an endpoint to pull from", func(h *history) rule {
		e := newEndpoint(h.one("org"), h.one("endpoint"))
		e.URL, e.Events = "", h.selection()
		return createEndpoint(e)
	}},
	{"create a key to pull", func(h *history) rule {
		k := store.APIKey{ID: h.one("key"), OrgID: h.one("org"), Scopes: store.ScopeReceive, CreatedBy: h.one("user")}
		for range h.IntN(3) {
			k.Endpoints = append(k.Endpoints, h.one("endpoint"))
		}
		return func(tx store.Tx) error { return second(store.ImportKey(tx, k)) }
	}},
	{"send a test to pull", func(h *history) rule {
		key, endpoint := h.consumer()
		return sendTest(key.OrgID, endpoint)
	}},
}

// consume does what consumers do of an endpoint, which there is then, and lets leases end.
func (h *history) consume() {
	if len(h.oracle.pulled()) == 0 {
		org, endpoint := h.one("org"), h.one("endpoint")
		e := newEndpoint(org, endpoint)
		e.URL = ""
		h.transact(&transaction{operations: []operation{
			{"create an org", createOrg(store.Org{ID: org, Name: "Org"})}, {"create an endpoint to pull from", createEndpoint(e)},
		}})
	}
	for range 1 + h.IntN(4) {
		t := new(transaction)
		for range 1 + h.IntN(5) {
			h.drawn = nil
			g := consuming[h.IntN(len(consuming))]
			run := g.draw(h)
			t.operations = append(t.operations, operation{fmt.Sprintf("%s %+v", g.name, h.drawn), run})
		}
		h.transact(t)
		if h.IntN(2) == 0 {
			h.moveClockBy(pick(h, []time.Duration{time.Millisecond, store.MinLease, store.DefaultLease, store.MaxLease, -time.Second, -2 * store.MaxLease}))
		}
	}
}

// consuming are the generators of consume.
var consuming = func() (all []generator) {
	for _, g := range ofPulls {
		if !strings.HasPrefix(g.name, "create ") {
			all = append(all, g)
		}
	}
	return append(all, all[0], all[len(all)-1]) // mostly pulls and what is to be pulled
}()

// consumer is a key and an endpoint to pull from: mostly one that is pulled.
func (h *history) consumer() (key *store.APIKey, endpoint string) {
	key = &store.APIKey{ID: h.one("key"), OrgID: h.one("org"), Scopes: store.ScopeReceive}
	endpoint = h.one("endpoint")
	if all := h.oracle.pulled(); len(all) > 0 && h.IntN(8) > 0 {
		e := pick(h, all)
		key.OrgID, endpoint = e.OrgID, e.ID
	}
	if h.IntN(8) == 0 {
		key.Endpoints = []string{h.one("endpoint")}
	}
	return key, endpoint
}

// deliveryOf is the id of a delivery: mostly one of an endpoint, in any state.
func (h *history) deliveryOf(org, endpoint string) string {
	var ids []string
	for _, d := range h.oracle.deliveries() {
		if d.OrgID == org && d.EndpointID == endpoint {
			ids = append(ids, d.ID)
		}
	}
	if len(ids) == 0 || h.IntN(16) == 0 {
		return h.one(store.PrefixDelivery)
	}
	return pick(h, ids)
}

// withLeases is a rule about up to two deliveries, mostly leased ones with their leases.
func (h *history) withLeases(key *store.APIKey, endpoint string, do func(store.Tx, []store.LeaseOf) error) rule {
	var ids []string
	for _, d := range h.oracle.deliveries() {
		if d.OrgID == key.OrgID && d.EndpointID == endpoint && d.State == store.StateLeased && len(ids) < 2 && h.IntN(4) > 0 {
			ids = append(ids, d.ID)
		}
	}
	if len(ids) == 0 || h.IntN(16) == 0 {
		ids = append(ids, h.deliveryOf(key.OrgID, endpoint))
	}
	h.drawn = append(h.drawn, ids)
	return func(tx store.Tx) error {
		var of []store.LeaseOf
		for _, id := range ids {
			d, err := tx.Delivery(id)
			if err != nil {
				return err
			}
			of = append(of, store.LeaseOf{DeliveryID: id, Lease: d.Lease().ID})
		}
		return do(tx, of)
	}
}

// comparing is a rule that has to return the same from the store and the oracle.
func (h *history) comparing(do func(tx store.Tx) (string, error)) rule {
	var fromStore string
	return func(tx store.Tx) error {
		text, err := do(tx)
		if !h.isOracle(tx) {
			fromStore = text
		} else if text != fromStore {
			h.Errorf("the store returns\n%s and the oracle\n%s", brief(fromStore), brief(text))
		}
		return err
	}
}

func (h *history) isOracle(tx store.Tx) bool { return tx.Tx == h.oracle.Tx.Tx }

func showClaims(got store.Claims) string {
	var b strings.Builder
	for _, c := range got.Claims {
		fmt.Fprintf(&b, "%+v %q\n", c.Delivery, c.Body)
	}
	return b.String()
}
