package store

import (
	"slices"
	"strings"

	"teamdata/store/rows"
)

// Feature is something that a plan may include.
type Feature uint8

// The features, as a set of bits.
const (
	FeatureAPI Feature = 1 << iota
	FeatureWebhooks
	FeatureAuditLog
)

var featureNames = []string{"api", "webhooks", "auditLog"} // in bit order

// FeaturesAdvice says what the features of a plan are. They are never left out: a plan
// that loses them by mistake takes the API from all its orgs.
const FeaturesAdvice = "it is a list of api, webhooks and auditLog, which may be empty"

// ParseFeature finds a feature by its name.
func ParseFeature(name string) (Feature, error) {
	f, ok := bitOf[Feature](featureNames, name)
	if !ok {
		return 0, Errorf(CodeBadRequest, "%.40q is not a feature", name).Advise("the features are api, webhooks and auditLog")
	}
	return f, nil
}

// bitOf finds the bit of a set by its name.
func bitOf[T ~uint8](names []string, name string) (bit T, ok bool) {
	i := slices.Index(names, name)
	return 1 << max(i, 0), i >= 0
}

// namesOf lists the names of a set's bits, the lowest bit first.
func namesOf[T ~uint8](names []string, set T) []string {
	of := []string{}
	for i, name := range names {
		if set&(1<<i) != 0 {
			of = append(of, name)
		}
	}
	return of
}

// Has reports whether the set f includes every feature of g.
func (f Feature) Has(g Feature) bool { return f&g == g }

// Names lists the set's names in bit order.
func (f Feature) Names() []string { return namesOf(featureNames, f) }

func (f Feature) String() string { return strings.Join(f.Names(), ",") }

// Plan is a named set of features.
type Plan struct {
	Name     string  // 1 to 64 of A-Z a-z 0-9 _ -
	Features Feature // the sum of 1 (api), 2 (webhooks), 4 (auditLog)
}

var plans = rows.Define(&rows.Table[Plan]{
	Kind: rows.Kind{Name: "plans", Noun: "plan"},
	Key:  func(dst []byte, p *Plan) []byte { return append(dst, p.Name...) },
	Fields: func(c *rows.Codec, p *Plan) {
		c.Text(&p.Name)
		rows.Small(c, &p.Features)
	},
})

func (t Tx) Plan(name string) (Plan, error) { return find(plans, t, t.Text(name)) }

// Plans lists the plans in order of name.
func (t Tx) Plans() ([]Plan, error) {
	return list(plans, t, rows.ByKey, rows.Bounds{}, unlimited)
}

func (t Tx) PutPlan(p Plan) error {
	t.Changed().Touched = true
	return plans.Put(t.Tx, &p)
}

func (t Tx) DeletePlan(name string) error {
	t.Changed().Touched = true
	return plans.Drop(t.Tx, t.Text(name))
}

// DefaultPlan is the plan of a new org.
const DefaultPlan = "selfHosted"

// BuiltInPlans exist in every data file and can't be changed.
var BuiltInPlans = []Plan{
	{"free", 0},
	{"team", FeatureAPI | FeatureWebhooks},
	{"business", FeatureAPI | FeatureWebhooks | FeatureAuditLog},
	{DefaultPlan, FeatureAPI | FeatureWebhooks | FeatureAuditLog},
}

// BuiltInPlan finds a built-in plan by its name.
func BuiltInPlan(name string) (Plan, bool) {
	i := slices.IndexFunc(BuiltInPlans, func(p Plan) bool { return p.Name == name })
	if i < 0 {
		return Plan{}, false
	}
	return BuiltInPlans[i], true
}

// FindPlan finds a plan, built in or added by the operator; notFound otherwise.
func FindPlan(tx Tx, name string) (Plan, error) {
	if p, ok := BuiltInPlan(name); ok {
		return p, nil
	}
	return tx.Plan(name)
}

// AddPlan adds a plan to the catalogue. A built-in name is rejected unless the
// features equal the built-in plan's.
func AddPlan(tx Tx, p Plan) error {
	if !ValidID(p.Name) {
		return Invalid("name", "must be 1 to 64 characters of A-Z a-z 0-9 _ and -")
	}
	if builtIn, ok := BuiltInPlan(p.Name); ok {
		if builtIn != p {
			return Invalid("name", "%q is built in with the features %s", p.Name, builtIn.Features.Names()).Advise("choose another name")
		}
		return nil
	}
	return tx.PutPlan(p)
}

// RemovePlan removes a plan that no org has. notFound: the operator added no
// such plan; conflict: it is built in, or an org has it.
func RemovePlan(tx Tx, name string) error {
	if _, ok := BuiltInPlan(name); ok {
		return Errorf(CodeConflict, "The plan %s is built in and can't be deleted.", name)
	}
	if _, err := tx.Plan(name); err != nil {
		return err
	}
	err := eachOrg(tx, func(o Org) error {
		if o.Subscription.Plan == name {
			return Errorf(CodeConflict, "The org %s has this plan.", o.ID).Advise("Change its subscription first.")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return tx.DeletePlan(name)
}
