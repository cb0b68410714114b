package settings

import (
	"slices"

	"teamdata/store"
)

// planFeature is a feature that a plan may include.
type planFeature struct {
	Feature  store.Feature
	Means    string
	sections []string // whose pages say what an org does without
	missing  string   // which is this; the overview says it in its own way
}

var planFeatures = []planFeature{
	{store.FeatureAPI, "Programs with an API key can read the org's members and instructions, and send test events.",
		[]string{"keys", "instructions"}, "The org’s subscription does not include the API: requests with API keys are answered 402."},
	{store.FeatureWebhooks, "Events are sent to the org's endpoints.",
		[]string{"endpoints", "events"}, "The org’s subscription does not include webhooks: events are neither sent nor kept."},
	{store.FeatureAuditLog, "Programs with an API key can read the audit log.",
		[]string{"audit-log"}, "The org’s subscription does not include the audit log in the API: all of it is on this page, and programs can’t read it."},
}

// MissingFeature is what the org does without on the pages of the section; empty: nothing.
func (l layout) MissingFeature() string {
	for _, f := range planFeatures {
		if l.Side != nil && slices.Contains(f.sections, l.Section) && !l.Side.Features.Has(f.Feature) {
			return f.missing
		}
	}
	return ""
}

// subscriptionPage is the data of subscription.html, beside the org.
type subscriptionPage struct{ Plan store.Plan }

// Features are all that a plan may include.
func (subscriptionPage) Features() []planFeature { return planFeatures }

func (r *request) showSubscription() error {
	var p subscriptionPage
	return r.Show(200, "subscription", &p, func(tx store.Tx) (err error) {
		p.Plan, err = store.FindPlan(tx, r.Org.Subscription.Plan)
		return err
	})
}
