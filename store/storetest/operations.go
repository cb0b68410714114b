package storetest

import (
	"fmt"
	"time"

	"teamdata/store"
)

// randomNames are the few names that histories use, so that they meet.
var randomNames = names{
	orgs: []string{"o", "o-", "oo"}, users: []string{"u", "v", "w", "x"}, plans: []string{"pro", "basic"},
	keys: []string{"k", "l", "m"}, endpoints: []string{"e", "f", "g"}, records: []string{"r", "s"}, certificates: []string{"c"},
	types: []string{"paid", "sent"}, tokens: []string{"O", "t"},
}

// generators draw operations. Those that a history needs much stand there more
// than once.
var generators = []func(*history) operation{
	(*history).createOrg, (*history).createOrg, (*history).addPlan, (*history).changeSubscription,
	(*history).addMember, (*history).addMember, (*history).addMember, (*history).importMember,
	(*history).changeRole, (*history).removeMember,
	(*history).appendAudit, (*history).appendAudit, (*history).importAudit,
	(*history).setInstructions, (*history).createKey, (*history).revokeKey,
	(*history).createEndpoint, (*history).createEndpoint,
	(*history).switchEndpoint, (*history).switchEndpoint, (*history).enableEndpoint, (*history).rotate,
	(*history).replayDelivery, (*history).replayDelivery, (*history).postponeMail, (*history).deleteMail,
	(*history).sendTest, (*history).sendTest, (*history).upload, (*history).upload,
	(*history).recordAttempt, (*history).recordAttempt, (*history).recordAttempt,
	(*history).useOnce, (*history).useOnce, (*history).expireRecords, (*history).putCertificate,
	(*history).renameOrg, (*history).removePlan, (*history).changeMember, (*history).makeKey,
	(*history).changeEndpoint, (*history).removeEndpoint, (*history).registerType, (*history).removeType, (*history).emit,
	(*history).importToken, (*history).createToken, (*history).revokeToken,
	(*history).makeLink, (*history).makeLink, (*history).makeLink, (*history).useLink, (*history).useLink,
	(*history).makeSession, (*history).makeSession, (*history).useSession, (*history).endSession,
	(*history).setPassword, (*history).passkey, (*history).passkey, (*history).useKey, (*history).addCounts,
}

func (h *history) newOperation() operation { return pick(h, generators)(h) }

func pick[T any](h *history, from []T) T { return from[h.IntN(len(from))] }

func (h *history) org() string  { return pick(h, h.names.orgs) }
func (h *history) user() string { return pick(h, h.names.users) }
func (h *history) role() string {
	return pick(h, []string{store.RoleOwner, store.RoleOwner, store.RoleAdmin, "guest"})
}
func (h *history) features() store.Feature { return store.Feature(h.IntN(8)) }

// importedID is an id that nothing has.
func (h *history) importedID() string {
	h.imported++
	return fmt.Sprintf("%s%d", pick(h, []string{"A", "a", "z-"}), h.imported)
}

// importedTime is a time long ago, around now, or to come.
func (h *history) importedTime() time.Time {
	return h.Clock.Now().Add(time.Duration(h.IntN(2000)-1500) * pick(h, []time.Duration{time.Millisecond, time.Hour}))
}

// op names an operation by its parameters, for the report.
func op(run func(store.Tx) error, format string, args ...any) operation {
	return operation{fmt.Sprintf(format, args...), run}
}

func (h *history) subscription() store.Subscription {
	return store.Subscription{
		ID: "sub", Product: "p", Interval: "i",
		Plan:   pick(h, append([]string{"free", "team", "business", "none"}, h.names.plans...)),
		Status: pick(h, []string{"active", "trialing", "active", "cancelled"}),
	}
}

func (h *history) createOrg() operation {
	o := store.Org{ID: h.org(), Name: "Org"}
	if h.IntN(2) == 0 {
		o.Subscription = h.subscription()
	}
	return op(createOrg(o), "create org %q with plan %q", o.ID, o.Subscription.Plan)
}

func (h *history) changeSubscription() operation {
	org, sub := h.org(), h.subscription()
	return op(func(tx store.Tx) error { return changeSubscription(tx, org, sub) },
		"org %q gets plan %q, %s", org, sub.Plan, sub.Status)
}

func (h *history) addPlan() operation {
	p := store.Plan{Name: pick(h, h.names.plans), Features: h.features()}
	return op(func(tx store.Tx) error { return store.AddPlan(tx, p) }, "plan %q has %v", p.Name, p.Features)
}

func (h *history) addMember() operation {
	m := store.Member{OrgID: h.org(), UserID: h.user(), Role: h.role()}
	if h.IntN(3) > 0 {
		m.Email = m.UserID + "@example.com"
	}
	return op(func(tx store.Tx) error { return addMember(tx, m) }, "add %s %q to %q", m.Role, m.UserID, m.OrgID)
}

func (h *history) importMember() operation {
	m := store.Member{OrgID: h.org(), UserID: h.user(), Role: h.role(), ID: h.importedID(), CreatedAt: h.importedTime()}
	return op(func(tx store.Tx) error {
		_, err := store.ImportMember(tx, m)
		return err
	}, "import %s %q into %q as %s of %v", m.Role, m.UserID, m.OrgID, m.ID, m.CreatedAt)
}

func (h *history) changeRole() operation {
	org, user, role := h.org(), h.user(), h.role()
	return op(func(tx store.Tx) error { return changeRole(tx, "", org, user, role) }, "%q of %q becomes %s", user, org, role)
}

func (h *history) removeMember() operation {
	org, user := h.org(), h.user()
	return op(func(tx store.Tx) error { return store.RemoveMember(tx, user, org, user) }, "remove %q from %q", user, org)
}

func (h *history) appendAudit() operation {
	e := store.AuditEntry{OrgID: h.org(), ActorID: h.user(), Action: "act"}
	if h.IntN(4) == 0 {
		e.ID = h.importedID()
	}
	return op(func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, e)
		return err
	}, "append an entry %q to the log of %q", e.ID, e.OrgID)
}

func (h *history) importAudit() operation {
	e := store.AuditEntry{OrgID: h.org(), ID: h.importedID(), Action: "imported", CreatedAt: h.importedTime()}
	return op(func(tx store.Tx) error {
		_, err := store.AppendAudit(tx, e)
		return err
	}, "import entry %s of %v into %q", e.ID, e.CreatedAt, e.OrgID)
}

func (h *history) setInstructions() operation {
	org, set := h.org(), h.IntN(3) > 0
	return op(func(tx store.Tx) error { return store.SetInstructions(tx, "", org, "", set) }, "instructions of %q: %v", org, set)
}

func (h *history) createKey() operation {
	k := store.APIKey{ID: pick(h, h.names.keys), OrgID: h.org(), Scopes: store.ScopeRead, CreatedBy: h.user()}
	return op(func(tx store.Tx) error {
		_, err := store.ImportKey(tx, k)
		return err
	}, "create key %q of %q in %q", k.ID, k.CreatedBy, k.OrgID)
}

func (h *history) revokeKey() operation {
	org, key := h.org(), pick(h, h.names.keys)
	return op(func(tx store.Tx) error { return store.RevokeKey(tx, "", org, key) }, "revoke key %q in %q", key, org)
}
