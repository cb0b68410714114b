package store

import (
	"slices"
	"time"
	"unicode/utf8"
)

// Org is an owner of data; "team" names the same.
type Org struct {
	ID           string
	Name         string // 1 to 200 characters
	CreatedAt    time.Time
	Subscription Subscription
}

// Subscription says which plan an org has. Product, interval and status are
// texts of 1 to 64 characters.
type Subscription struct {
	ID       string
	Product  string
	Plan     string
	Interval string
	Status   string
}

const maxNameLength = 200

var grantingStatuses = []string{"active", "trialing", "pastDue"}

// Grants tells whether the subscription's status grants the plan's features.
func (s Subscription) Grants() bool { return slices.Contains(grantingStatuses, s.Status) }

// ImportOrg adds an org. A missing id, creation time or subscription is
// filled in; the default is an active subscription of DefaultPlan.
func ImportOrg(tx Tx, o Org) (Org, error) {
	if o.ID == "" {
		o.ID = tx.NewID(PrefixOrg)
	}
	if o.CreatedAt.IsZero() {
		o.CreatedAt = tx.Now()
	}
	if o.Subscription == (Subscription{}) {
		o.Subscription = Subscription{Product: "teamdata", Plan: DefaultPlan, Interval: "none", Status: "active"}
	}
	if o.Subscription.ID == "" {
		o.Subscription.ID = tx.NewID(PrefixSubscription)
	}
	if err := o.check(tx); err != nil {
		return Org{}, err
	}
	return o, tx.PutOrg(o)
}

func (o Org) check(tx Tx) error {
	if !ValidID(o.ID) {
		return Invalid("id", "%s", idRule)
	}
	if err := checkText("name", o.Name, maxNameLength); err != nil {
		return err
	}
	switch _, err := tx.Org(o.ID); {
	case err == nil:
		return Invalid("id", "an org %q exists already", o.ID)
	case !IsNotFound(err):
		return err
	}
	return o.Subscription.check(tx)
}

func (s Subscription) check(tx Plans) error {
	if !ValidID(s.ID) {
		return Invalid("subscription.id", "%s", idRule)
	}
	for _, text := range []struct{ name, value string }{
		{"product", s.Product}, {"plan", s.Plan}, {"interval", s.Interval}, {"status", s.Status},
	} {
		if err := checkText("subscription."+text.name, text.value, maxIDLength); err != nil {
			return err
		}
	}
	if _, err := FindPlan(tx, s.Plan); IsNotFound(err) {
		return Invalid("subscription.plan", "there is no plan %q; built in are free, team, business and selfHosted, and \"plans\" adds more", s.Plan)
	} else if err != nil {
		return err
	}
	return nil
}

// ChangeSubscription replaces an org's subscription and emits
// subscription.changed. A missing id keeps the old one.
func ChangeSubscription(tx Tx, orgID string, s Subscription) error {
	org, err := tx.Org(orgID)
	if err != nil {
		return err
	}
	if s.ID == "" {
		s.ID = org.Subscription.ID
	}
	if err := s.check(tx); err != nil {
		return err
	}
	org.Subscription = s
	if err := tx.PutOrg(org); err != nil {
		return err
	}
	return Emit(tx, orgID, EventSubscriptionChanged, object("orgId", orgID, "subscriptionId", s.ID,
		"product", s.Product, "plan", s.Plan, "interval", s.Interval, "status", s.Status))
}

// Features are the features that an org has now: those of its plan, if its
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

const idRule = "an id is 1 to 64 of A-Z a-z 0-9 _ and -"

// checkText holds a required text to UTF-8 and a length in characters.
func checkText(field, text string, most int) error {
	if text == "" {
		return Invalid(field, "is missing or empty")
	}
	return checkOptional(field, text, most)
}

func checkOptional(field, text string, most int) error {
	if !utf8.ValidString(text) {
		return Invalid(field, "is not valid UTF-8")
	}
	if n := utf8.RuneCountInString(text); n > most {
		return Invalid(field, "has %d characters; at most %d are allowed", n, most)
	}
	return nil
}
