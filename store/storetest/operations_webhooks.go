package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// attemptOf is an attempt of a delivery that may be there.
func (h *history) attemptOf(id string) rule {
	a := store.Attempt{StartedAt: h.Clock.Now(), EndedAt: h.Clock.Now().Add(time.Duration(h.IntN(3000)-300) * time.Microsecond)}
	if a.Status = pick(h, []int{200, 500, 0}); a.Status != 200 {
		a.Reason, a.Answer = "failed", fmt.Append(nil, h.IntN(1000))
	}
	schedule := store.DefaultRetrySchedule[:h.IntN(3)]
	return func(tx store.Tx) error { return second(store.RecordAttempt(tx, id, a, schedule)) }
}

// options is a change of how events are sent, which may be refused.
func (h *history) options() (c store.SendChange) {
	c.NoHeaders = h.IntN(4) == 0
	c.Headers = map[string]*string{pick(h, []string{"X-Key", "x-key", "A", "Host"}): maybe(h, fmt.Sprint("v", h.IntN(3)))}
	c.Rate, c.MaxInFlight = maybe(h, pick(h, []string{"", "10/s", "1/h", "0/s"})), maybe(h, h.IntN(34))
	if h.IntN(3) == 0 {
		c.ClientCertificate, c.ClientKey = &ClientCertificate, maybe(h, ClientKey)
	}
	if h.IntN(3) == 0 {
		c.ClientCertificate, c.CA = maybe(h, ""), maybe(h, ClientCertificate)
	}
	return c
}

var ofWebhooks = []generator{
	{"rotate a secret", func(h *history) rule {
		return rotate(h.one("org"), h.one("endpoint"), secretOf(byte(h.IntN(4)), 24), pick(h, []time.Duration{-1, 0, time.Hour, store.MaxSecretOverlap}))
	}},
	{"enable an endpoint", func(h *history) rule { return switchEndpoint(h.one("org"), h.one("endpoint"), true) }},
	{"change an endpoint", func(h *history) rule {
		change := store.EndpointChange{URL: maybe(h, fmt.Sprintf("https://example.com/%d", h.IntN(3))), Description: maybe(h, "d")}
		if h.IntN(2) == 0 {
			change.Events = h.selection()
		}
		if h.IntN(2) == 0 {
			change.Sending = h.options()
		}
		return changeEndpoint(h.one("org"), h.one("endpoint"), change)
	}},
	{"remove an endpoint", func(h *history) rule { return removeEndpoint(h.one("org"), h.one("endpoint")) }},
	{"register a type", func(h *history) rule {
		return register(store.EventType{Name: h.one("type"), Description: fmt.Sprint(h.IntN(3))})
	}},
	{"remove a type", func(h *history) rule { return removeType(h.one("type")) }},
	// The type may not be there, but the event goes to those who select it. An engine keeps
	// short bodies with their deliveries.
	{"emit", func(h *history) rule {
		org, name := h.one("org"), h.one("type")
		data := fmt.Appendf(nil, `{"text":"%0*d"}`, pick(h, []int{1, 500, 5000}), 0)
		return func(tx store.Tx) error { return second(store.Emit(tx, org, name, data)) }
	}},
	{"expire idempotency records", func(*history) rule {
		return func(tx store.Tx) error { return second(tx.ExpireIdempotencyRecords(2)) }
	}},
	// Counts may be of any time; those of attempts are of now.
	{"count attempts", func(h *history) rule {
		org, endpoint, at := h.one("org"), uint64(h.IntN(3)), h.importedTime()
		c := store.DeliveryCounts{Acknowledged: h.IntN(3), Failed: 1 + h.IntN(200)}
		return func(tx store.Tx) error { return tx.AddDeliveryCounts(org, endpoint, at, c) }
	}},
}

// known is the secret of all sessions and links of a history, in place of the
// random ones that rules make.
const known = "known"

var ofSignIns = []generator{
	// A request finds its session, and that is noted.
	{"use a session", func(h *history) rule {
		id := h.one(store.PrefixSession)
		return func(tx store.Tx) error {
			if _, err := store.FindSession(tx, id+"."+known); err != nil {
				return err
			}
			return store.TouchSession(tx, id)
		}
	}},
	{"end a session", func(h *history) rule {
		user, id := h.one("user"), h.one(store.PrefixSession)
		if s, err := h.oracle.Session(id); err == nil && h.IntN(4) > 0 {
			user = s.UserID
		}
		return func(tx store.Tx) error { return store.EndSession(tx, user, id) }
	}},
	{"set a password", func(h *history) rule {
		user, keep := h.one("user"), h.one(store.PrefixSession)
		return func(tx store.Tx) error { return store.SetPassword(tx, user, "set", keep) }
	}},
}
