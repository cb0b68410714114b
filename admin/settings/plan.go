package settings

import (
	"slices"

	"teamdata/store"
)

// planFeature is a feature that a plan may include.
type planFeature struct {
	Name     string
	Means    string
	Included bool // in the plan
}

var featureMeanings = []struct {
	feature store.Feature
	means   string
}{
	{store.FeatureAPI, "Programs with an API key can read the org's members and instructions, and send test events."},
	{store.FeatureWebhooks, "Events are sent to the org's endpoints."},
	{store.FeatureAuditLog, "Programs with an API key can read the audit log."},
}

// missingFeatures say on the pages of a section what the org does without, unless its subscription
// includes the feature. The overview says it in its own way.
var missingFeatures = []struct {
	feature  store.Feature
	sections []string
	text     string
}{
	{store.FeatureWebhooks, []string{"endpoints", "events"}, "The org’s subscription does not include webhooks: events are neither sent nor kept."},
	{store.FeatureAPI, []string{"keys", "instructions"}, "The org’s subscription does not include the API: requests with API keys are answered 402."},
	{store.FeatureAuditLog, []string{"audit-log"}, "The org’s subscription does not include the audit log in the API: all of it is on this page, and programs can’t read it."},
}

// MissingFeature is what the org does without on the pages of the section; empty: nothing.
func (l layout) MissingFeature() string {
	for _, lack := range missingFeatures {
		if l.Side != nil && slices.Contains(lack.sections, l.Section) && !l.Side.Features.Has(lack.feature) {
			return lack.text
		}
	}
	return ""
}

type subscriptionPage struct {
	Subscription store.Subscription
	Grants       bool // the status lets the org use its plan
	Features     []planFeature
}

func (r *request) showSubscription() error {
	var p subscriptionPage
	return r.Show(200, "subscription", &p, func(tx store.Tx) error {
		p.Subscription = r.Org.Subscription
		p.Grants = p.Subscription.Grants()
		plan, err := store.FindPlan(tx, p.Subscription.Plan)
		for _, f := range featureMeanings {
			p.Features = append(p.Features, planFeature{f.feature.String(), f.means, plan.Features.Has(f.feature)})
		}
		return err
	})
}
