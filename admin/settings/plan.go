package settings

import "teamdata/store"

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

type subscriptionPage struct {
	Subscription store.Subscription
	Grants       bool // the status lets the org use its plan
	Features     []planFeature
}

func (r *request) showSubscription() error {
	var p subscriptionPage
	return r.show(200, "subscription", &p, func(tx store.Tx) error {
		p.Subscription = r.org.Subscription
		p.Grants = p.Subscription.Grants()
		plan, err := store.FindPlan(tx, p.Subscription.Plan)
		for _, f := range featureMeanings {
			p.Features = append(p.Features, planFeature{f.feature.String(), f.means, plan.Features.Has(f.feature)})
		}
		return err
	})
}
