package storetest

import (
	"fmt"
	"slices"
	"time"

	"teamdata/store"
)

// randomNames are the few names that histories use, so that they meet.
var randomNames = Names{
	"org": {"o", "o-", "oo"}, "user": {"u", "v", "w", "x"}, "plan": {"pro", "basic"},
	"key": {"k", "l", "m"}, "endpoint": {"e", "f", "g"}, "record": {"r", "s"},
	"type": {"bill.paid", "bill.sent"},
}

// rule is a rule of package store, or a write, with what it is given.
type rule = func(store.Tx) error

// generator draws an operation. The report of a history shows its choices.
type generator struct {
	name string
	draw func(*history) rule
}

// generators are those of rules that span records, or on which the queue depends. A
// rule about one row that nothing refers to is tested in rowstest. Generators that a history
// needs often are listed more than once.
var generators = func() (all []generator) {
	for _, often := range []int{1, 2, 3} {
		for _, g := range drawn[often] {
			all = append(all, slices.Repeat([]generator{g}, often)...)
		}
	}
	return all
}()

func (h *history) newOperation() operation {
	g := generators[h.IntN(len(generators))]
	h.drawn = nil
	run := g.draw(h)
	return operation{fmt.Sprintf("%s %+v", g.name, h.drawn), run}
}

func pick[T any](h *history, from []T) T {
	v := from[h.IntN(len(from))]
	h.drawn = append(h.drawn, v)
	return v
}

// one is a name that something may have.
func (h *history) one(of string) string {
	if len(h.names[of]) == 0 {
		return "none"
	}
	return pick(h, h.names[of])
}

// maybe is a value, or nil: it is left as it is.
func maybe[T any](h *history, v T) *T {
	if pick(h, []bool{true, false}) {
		return nil
	}
	return &v
}

func (h *history) role() string {
	return pick(h, []string{store.RoleOwner, store.RoleOwner, store.RoleAdmin, store.RoleViewer, "guest"})
}

// importedID is an id that nothing has.
func (h *history) importedID() string {
	h.imported++
	return fmt.Sprintf("%s%d", pick(h, []string{"A", "a", "z-"}), h.imported)
}

// importedTime is a time long ago, around now, or to come.
func (h *history) importedTime() time.Time {
	unit := pick(h, []time.Duration{time.Millisecond, time.Hour})
	return h.Clock.Now().Add(time.Duration(h.IntN(2000)-1500) * unit)
}

func (h *history) subscription() store.Subscription {
	return store.Subscription{
		ID: "sub", Product: "p", Interval: "i",
		Plan:   pick(h, append([]string{"free", "team", "business", "none"}, h.names["plan"]...)),
		Status: pick(h, []string{"active", "trialing", "active", "cancelled"}),
	}
}

// selection is some event types and groups, of which some may not be there, and at
// times all events.
func (h *history) selection() []string {
	all := slices.Concat([]string{store.AllEvents, "bill.*"}, h.names["type"], store.BuiltInEventTypes, []string{"member.*"})
	from := h.IntN(len(all))
	return all[from : from+1+h.IntN(len(all)-from)]
}

// drawn are the generators of rules, by how often they stand among all.
var drawn = map[int][]generator{1: slices.Concat(ofOrgs, ofWebhooks, ofSignIns, ofPulls), 2: slices.Concat(often, ofPulls), 3: mostOften}

var mostOften = []generator{
	{"add a member", func(h *history) rule {
		m := store.Member{OrgID: h.one("org"), UserID: h.one("user"), Role: h.role()}
		if h.IntN(3) > 0 {
			m.Email = m.UserID + "@example.com"
		}
		return addMember(m)
	}},
	{"record an attempt", func(h *history) rule { return h.attemptOf(h.one(store.PrefixDelivery)) }},
	{"make a sign-in link", func(h *history) rule {
		org, user := h.one("org"), h.one("user")
		ttl := pick(h, []time.Duration{0, time.Minute, time.Hour, store.DefaultSignInLinkTTL})
		return func(tx store.Tx) error {
			l, _, err := store.CreateSignInLink(tx, org, user, ttl)
			l.SecretHash = store.HashSecret(known)
			return do(err, func() error { return tx.PutSignInLink(l) })
		}
	}},
}

var often = []generator{
	{"create an org", func(h *history) rule {
		o := store.Org{ID: h.one("org"), Name: "Org"}
		if h.IntN(2) == 0 {
			o.Subscription = h.subscription()
		}
		return createOrg(o)
	}},
	{"append an audit entry", func(h *history) rule {
		e := store.AuditEntry{OrgID: h.one("org"), ActorID: h.one("user"), Action: "act"}
		if h.IntN(4) == 0 {
			e.ID = h.importedID()
		}
		return func(tx store.Tx) error { return second(store.AppendAudit(tx, e)) }
	}},
	{"create an endpoint", func(h *history) rule {
		e := newEndpoint(h.one("org"), h.one("endpoint"))
		e.Events = h.selection()
		return createEndpoint(e)
	}},
	{"switch an endpoint", func(h *history) rule {
		return switchEndpoint(h.one("org"), h.one("endpoint"), pick(h, []bool{true, true, false}))
	}},
	{"replay", func(h *history) rule {
		org, id := h.one("org"), h.one(store.PrefixDelivery)
		if d, err := h.oracle.Delivery(id); err == nil && h.IntN(4) > 0 {
			org = d.OrgID
		}
		return replay(org, id)
	}},
	{"send an example", func(h *history) rule { return sendExample(h.one("org"), h.one("endpoint")) }},
	{"send a test", func(h *history) rule { return sendTest(h.one("org"), h.one("endpoint")) }},
	{"upload a file", func(h *history) rule { return uploadFile(h.one("org"), "") }},
	{"use an idempotency key", func(h *history) rule {
		r := store.IdempotencyRecord{OrgID: h.one("org"), Key: h.one("record"), Answer: store.Answer{Status: 200 + h.IntN(300)}}
		return func(tx store.Tx) error {
			_, err := tx.IdempotencyRecord(r.OrgID, r.Key)
			if !store.IsNotFound(err) {
				return err
			}
			r.FirstUse = tx.Now()
			return tx.AddIdempotencyRecord(r)
		}
	}},
	{"use a sign-in link", func(h *history) rule { return useLink(h.one(store.PrefixSignInLink) + "." + known) }},
	{"make a portal link", func(h *history) rule {
		org, user, role := h.one("org"), h.one("user"), pick(h, []string{store.RoleViewer, store.RoleAdmin, store.RoleOwner})
		ttl := pick(h, []time.Duration{0, time.Minute, store.MaxPortalLinkTTL})
		return func(tx store.Tx) error {
			l, _, err := store.CreatePortalLink(tx, ada, user, store.Portal{OrgID: org, Role: role}, ttl)
			l.SecretHash = store.HashSecret(known)
			return do(err, func() error { return tx.PutSignInLink(l) })
		}
	}},
	{"use a portal link", func(h *history) rule {
		token := h.one(store.PrefixSignInLink) + "." + known
		return func(tx store.Tx) error {
			s, _, err := store.UsePortalLink(tx, token, "Browser/1")
			s.SecretHash = store.HashSecret(known)
			return do(err, func() error { return tx.PutSession(s) })
		}
	}},
	{"sign out of a portal", func(h *history) rule {
		id := h.one(store.PrefixSession)
		return func(tx store.Tx) error {
			s, err := tx.Session(id)
			if err != nil || !s.Portal.Is() {
				return err
			}
			return store.SignOut(tx, s)
		}
	}},
	{"make a session", func(h *history) rule {
		user := h.one("user")
		return func(tx store.Tx) error {
			s, _, err := store.CreateSession(tx, user, "Browser/1")
			s.SecretHash = store.HashSecret(known)
			return do(err, func() error { return tx.PutSession(s) })
		}
	}},
}

var ofOrgs = []generator{
	{"add a plan", func(h *history) rule {
		p := store.Plan{Name: h.one("plan"), Features: store.Feature(h.IntN(8))}
		return func(tx store.Tx) error { return store.AddPlan(tx, p) }
	}},
	{"remove a plan", func(h *history) rule { return removePlan(pick(h, append([]string{"free"}, h.names["plan"]...))) }},
	{"subscribe", func(h *history) rule { return subscribe(h.one("org"), h.subscription()) }},
	{"delete an org", func(h *history) rule { return deleteOrg(h.one("org")) }},
	{"put a member", func(h *history) rule {
		org, user := h.one("org"), h.one("user")
		values := store.MemberChange{Role: maybe(h, h.role()), Email: maybe(h, user+"@new.example")}
		return func(tx store.Tx) error {
			return second(store.PutMember(tx, ada, org, store.MemberValues{UserID: user, MemberChange: values}))
		}
	}},
	{"put members", func(h *history) rule {
		org := h.one("org")
		return putMembers(org, h.one("user"), h.role(), h.one("user"), h.role(), h.one("user"), h.role())
	}},
	{"rename an org", func(h *history) rule { return renameOrg(h.one("org"), pick(h, []string{"Org", "Another", ""})) }},
	{"import a member", func(h *history) rule {
		m := store.Member{OrgID: h.one("org"), UserID: h.one("user"), Role: h.role(), ID: h.importedID(), CreatedAt: h.importedTime()}
		return func(tx store.Tx) error { return second(store.ImportMember(tx, m)) }
	}},
	{"change a role", func(h *history) rule { return changeRole("", h.one("org"), h.one("user"), h.role()) }},
	{"change a member", func(h *history) rule {
		org, user := h.one("org"), h.one("user")
		change := store.MemberChange{Role: maybe(h, h.role()), Name: maybe(h, pick(h, []string{"", "N", "\xff"})), Email: maybe(h, user+"@new.example")}
		return func(tx store.Tx) error { return second(store.ChangeMember(tx, ada, org, user, change)) }
	}},
	{"remove a member", func(h *history) rule { return removeMember(h.one("org"), h.one("user")) }},
	{"import an audit entry", func(h *history) rule {
		e := store.AuditEntry{OrgID: h.one("org"), ID: h.importedID(), Action: "imported", CreatedAt: h.importedTime()}
		return func(tx store.Tx) error { return second(store.AppendAudit(tx, e)) }
	}},
	{"set instructions", func(h *history) rule {
		return setInstructions(h.one("org"), "", pick(h, []bool{true, true, false}))
	}},
	{"import a key", func(h *history) rule {
		k := store.APIKey{ID: h.one("key"), OrgID: h.one("org"), Scopes: store.ScopeRead, CreatedBy: h.one("user")}
		return func(tx store.Tx) error { return second(store.ImportKey(tx, k)) }
	}},
	// The secret of a key that is made is replaced: the oracle's would be another.
	{"create a key", func(h *history) rule {
		k := store.APIKey{ID: h.one("key"), OrgID: h.one("org"), Scopes: store.ScopeWrite, CreatedBy: h.one("user")}
		if h.IntN(3) == 0 {
			k.ExpiresAt = h.importedTime()
		}
		return func(tx store.Tx) error {
			made, _, err := store.CreateKey(tx, "", k)
			made.SecretHash = k.SecretHash
			return do(err, func() error { return tx.PutAPIKey(made) })
		}
	}},
	{"put the use of a key", func(h *history) rule {
		return putKeyUse(h.one("key"), Values{Text: fmt.Sprint(h.IntN(1000)), Time: h.importedTime()})
	}},
	{"revoke a key", func(h *history) rule { return revokeKey(h.one("org"), h.one("key")) }},
}
