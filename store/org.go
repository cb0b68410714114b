package store

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"teamdata/store/rows"
)

// Org is an owner of data, also called a team.
type Org struct {
	ID           string
	Name         string // 1 to 200 characters
	CreatedAt    time.Time
	Subscription Subscription
}

// Subscription is an org's plan and its terms. Product, interval and status are
// texts of 1 to 64 characters.
type Subscription struct {
	ID       string
	Product  string
	Plan     string // a name in `plans`, or of a plan that is built in: free, team, business, selfHosted
	Interval string
	Status   string // active, trialing and pastDue grant the plan's features
}

var orgs = rows.Define(&rows.Table[Org]{
	Kind: rows.Kind{Name: "orgs", Noun: "org", Owner: rows.OrgInKey},
	Key:  func(dst []byte, o *Org) []byte { return append(dst, o.ID...) },
	Fields: func(c *rows.Codec, o *Org) {
		c.Text(&o.ID)
		c.Text(&o.Name)
		c.Time(&o.CreatedAt)
		c.Text(&o.Subscription.ID)
		c.Text(&o.Subscription.Product)
		c.Text(&o.Subscription.Plan)
		c.Text(&o.Subscription.Interval)
		c.Text(&o.Subscription.Status)
	},
	Checks: func(c *rows.Checker, key []byte, o *Org) {
		c.Look(&removedOrgs.Kind, key, func(value []byte) {
			if value != nil {
				c.Fault("orgs %q: is removed, too", o.ID)
			}
		})
	},
})

// removedOrgs are those of which other records may still exist.
var removedOrgs = rows.Define(&rows.Table[string]{
	Kind:     rows.Kind{Name: "removedOrgs", Noun: "removed org", Owner: rows.OrgInKey, Mentioned: true},
	Key:      func(dst []byte, id *string) []byte { return append(dst, *id...) },
	Fields:   func(*rows.Codec, *string) {},
	Complete: func(key []byte, id *string) { *id = string(key) },
})

func (t Tx) Org(id string) (Org, error) { return find(orgs, t, t.Text(id)) }

func (t Tx) PutOrg(o Org) error {
	t.Changed().Touched = true
	return orgs.Put(t.Tx, &o)
}

// Orgs lists up to limit orgs in order of id, after the given id; an empty id
// starts at the first.
func (t Tx) Orgs(after string, limit int) ([]Org, error) {
	return list(orgs, t, rows.ByKey, rows.After(after), limit)
}

// AnyOrg reports whether the store has any org, or one that is removed and not yet
// forgotten.
func (t Tx) AnyOrg() (bool, error) {
	some, err := t.Orgs("", 1)
	if err != nil || len(some) > 0 {
		return len(some) > 0, err
	}
	removed, err := t.RemovedOrgs(1)
	return len(removed) > 0, err
}

// DeleteOrg removes an org and lists it among the removed ones. It is not found
// from then on, nor among [Tx.VisibleOrgs]; its other records stay until
// they are dropped one by one.
func (t Tx) DeleteOrg(id string) error {
	if _, err := t.Org(id); err != nil {
		return err
	}
	t.Changed().Touched = true
	if err := orgs.Drop(t.Tx, t.Text(id)); err != nil {
		return err
	}
	return removedOrgs.Put(t.Tx, &id)
}

// OrgRemoved reports whether an org was removed and is not yet forgotten.
func (t Tx) OrgRemoved(id string) (bool, error) { return removedOrgs.Has(t.Tx, t.Text(id)) }

// RemovedOrgs lists up to limit ids of removed orgs that are not yet forgotten,
// in order.
func (t Tx) RemovedOrgs(limit int) ([]string, error) {
	return list(removedOrgs, t, rows.ByKey, rows.Bounds{}, limit)
}

// ForgetOrg drops the last of a removed org: its instructions, and what its
// lists remember of their positions.
func (t Tx) ForgetOrg(id string) error {
	if err := lastRemoved.Drop(t.Tx, t.Text(id)); err != nil {
		return err
	}
	if err := instructions.Drop(t.Tx, t.Text(id)); err != nil {
		return err
	}
	return removedOrgs.Drop(t.Tx, t.Text(id))
}

var grantingStatuses = []string{"active", "trialing", "pastDue"}

// Grants reports whether the subscription's status grants the plan's features.
func (s Subscription) Grants() bool { return slices.Contains(grantingStatuses, s.Status) }

// CreateOrg adds an org, as ImportOrg does, with the audit entry org.created.
func CreateOrg(tx Tx, actorID string, o Org) (Org, error) {
	o, err := ImportOrg(tx, o)
	return o, auditBy(err, tx, actorID, o.ID, "org.created", o.ID)
}

// RenameOrg renames an org, with the audit entry org.renamed. An identical name
// changes nothing.
func RenameOrg(tx Tx, actorID, orgID, name string) (Org, error) {
	org, err := tx.Org(orgID)
	if err != nil || org.Name == name {
		return org, err
	}
	if err := checkText("name", name, maxNameLength); err != nil {
		return Org{}, err
	}
	org.Name = name
	return org, auditBy(tx.PutOrg(org), tx, actorID, orgID, "org.renamed", orgID)
}

// DeleteOrg removes an org from this commit on: it is not found, its keys are
// unknown, nothing more is sent. The next Sweep drops its records; until then its
// id is taken. notFound: there is no such org.
func DeleteOrg(tx Tx, orgID string) error {
	endpoints, err := tx.Endpoints(orgID)
	for _, e := range endpoints {
		if err == nil {
			err = tx.DeleteEndpoint(e)
		}
	}
	if err != nil {
		return err
	}
	return tx.DeleteOrg(orgID)
}

// chunk is how many records are read at once.
const chunk = 500

// eachOrg calls fn for each org, until it fails.
func eachOrg(tx Tx, fn func(Org) error) error {
	for after := ""; ; {
		orgs, err := tx.Orgs(after, chunk)
		if err != nil || len(orgs) == 0 {
			return err
		}
		for _, o := range orgs {
			if err := fn(o); err != nil {
				return err
			}
		}
		after = orgs[len(orgs)-1].ID
	}
}

// ImportOrg adds an org without an audit entry, as a fixture does. A missing id,
// creation time or part of the subscription is filled in; the default is an
// active subscription of DefaultPlan.
func ImportOrg(tx Tx, o Org) (Org, error) {
	fillIn(tx, PrefixOrg, &o.ID, &o.CreatedAt)
	o.Subscription = o.Subscription.over(Subscription{Product: "teamdata", Plan: DefaultPlan, Interval: "none", Status: "active"})
	if o.Subscription.ID == "" {
		o.Subscription.ID = tx.NewID(PrefixSubscription)
	}
	if err := cmp.Or(o.check(tx), checkHappened(tx, "createdAt", o.CreatedAt)); err != nil {
		return Org{}, err
	}
	return o, tx.PutOrg(o)
}

func (o Org) check(tx Tx) error {
	_, err := tx.Org(o.ID)
	if err := cmp.Or(checkID("id", o.ID), checkText("name", o.Name, maxNameLength), checkNew(err, "id", "an org %q exists already", o.ID)); err != nil {
		return err
	}
	removed, err := tx.OrgRemoved(o.ID)
	if removed {
		e := &Error{Code: CodeConflict, Field: "id", Message: "an org " + strconv.Quote(o.ID) + " was deleted, and its data is still being dropped"}
		return e.Advise("try again later, or choose another id")
	}
	return cmp.Or(err, o.Subscription.check(tx))
}

// over returns the subscription with its missing fields taken from base.
func (s Subscription) over(base Subscription) Subscription {
	return Subscription{
		ID: cmp.Or(s.ID, base.ID), Product: cmp.Or(s.Product, base.Product), Plan: cmp.Or(s.Plan, base.Plan),
		Interval: cmp.Or(s.Interval, base.Interval), Status: cmp.Or(s.Status, base.Status),
	}
}

func (s Subscription) check(tx Tx) error {
	err := cmp.Or(
		checkID("subscription.id", s.ID),
		checkText("subscription.product", s.Product, maxIDLength),
		checkText("subscription.plan", s.Plan, maxIDLength),
		checkText("subscription.interval", s.Interval, maxIDLength),
		checkText("subscription.status", s.Status, maxIDLength),
	)
	if err != nil {
		return err
	}
	_, err = FindPlan(tx, s.Plan)
	if IsNotFound(err) {
		return Invalid("subscription.plan", "there is no plan %q", s.Plan).Advise("the built-in plans are free, team, business and selfHosted, and \"plans\" adds more")
	}
	return err
}

// ChangeSubscription replaces an org's subscription, with its audit entry and its
// event subscription.changed, sent according to the new plan. Missing fields are
// kept from the old subscription; an identical one changes nothing.
func ChangeSubscription(tx Tx, actorID, orgID string, s Subscription) (Subscription, error) {
	org, err := tx.Org(orgID)
	if err != nil {
		return Subscription{}, err
	}
	s = s.over(org.Subscription)
	if err := s.check(tx); err != nil || s == org.Subscription {
		return s, err
	}
	org.Subscription = s
	return s, auditAndEmit(tx.PutOrg(org), tx, actorID, orgID, EventSubscriptionChanged, s.ID, jsonObject("orgId", orgID, "subscriptionId", s.ID,
		"product", s.Product, "plan", s.Plan, "interval", s.Interval, "status", s.Status))
}

// Features returns an org's current features: those of its plan, if its
// subscription's status grants them.
func Features(tx Tx, orgID string) (Feature, error) {
	org, err := tx.Org(orgID)
	if err != nil || !org.Subscription.Grants() {
		return 0, err
	}
	plan, err := FindPlan(tx, org.Subscription.Plan)
	if err != nil {
		return 0, err
	}
	return plan.Features, nil
}
