package operator

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const idUsage = "an `id` of your own, 1 to 64 of A-Z a-z 0-9 _ and -"

func orgCommand(e *env) *cobra.Command {
	r := newResource(e, "org", "Manage orgs, which own all other data", idList{"/orgs", "id"})
	f := r.add(action{
		use: "create --name NAME", short: "Create an org", makes: true,
		long:    "Create creates an org. If there is no data file and no server runs, it creates the\nfile too.",
		example: "org create --name Acme --id org_acme\norg create --name Acme --plan business",
		route:   "POST /orgs", fields: []string{"name", "id"},
		addTo: func(s *session, body object) error {
			if subscription := given(s.cmd.Flags(), subscriptionFlags...); len(subscription) > 0 {
				body["subscription"] = subscription
			}
			return nil
		},
	}).Flags()
	f.String("name", "", "the `name`, 1 to 200 characters")
	f.String("id", "", idUsage)
	bindSubscription(f)
	require(f, "name")
	r.add(action{
		use: "list", short: "List the orgs",
		example: "org list\norg list --json",
		route:   "GET /orgs",
		columns: columns{"ORG", "id", "NAME", "name", "PLAN", "subscription.plan", "STATUS", "subscription.status", "CREATED", "createdAt"},
		none:    "no orgs yet; create one with: teamdata org create --name NAME",
	})
	e.bindOrg(r.add(action{
		use: "show [ORG]", short: "Show an org",
		example: "org show org_acme",
		route:   "GET /orgs/{org}",
	}).Flags())
	f = r.add(action{
		use: "update [ORG] --name NAME", short: "Rename an org",
		example: `org update org_acme --name "Acme Ltd"`,
		route:   "PATCH /orgs/{org}", fields: []string{"name"},
	}).Flags()
	f.String("name", "", "the new `name`, 1 to 200 characters")
	require(f, "name")
	e.bindOrg(f)
	r.add(action{
		use: "delete ORG", short: "Delete an org with all that it owns",
		long: `Delete deletes an org with its members, audit log, instructions, API keys,
endpoints and deliveries. From then on the org is not found, its API keys are
unknown, and nothing more is sent.

A running server drops the data in the background, in small steps beside its other
work, also after a restart. Until that is done, no org can be created with the same
id. Backups still have the data.`,
		example: "org delete org_acme\norg delete org_acme --yes",
		route:   "DELETE /orgs/{id}",
		confirm: "This deletes the org {id} with its members, audit log, API keys, endpoints and deliveries",
		done:    "org {id} is deleted",
	})
	return r.Command
}

func subscriptionCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "subscription", "Manage the subscription of an org, which says its plan", idList{})
	r.add(action{
		use: "show", short: "Show the subscription",
		example: "subscription show --org org_acme",
		route:   "GET /orgs/{org}/subscription",
	})
	fields := append([]string{"id"}, subscriptionFlags...)
	update := r.add(action{
		use: "update", short: "Update the subscription",
		long:    "Update changes the fields that are given and leaves the others as they are.\nEndpoints that select the event subscription.changed receive it.",
		example: "subscription update --org org_acme --plan team\nsubscription update --org org_acme --status canceled",
		route:   "PUT /orgs/{org}/subscription", fields: fields,
	})
	bindSubscription(update.Flags())
	update.Flags().String("id", "", "another `id` for the subscription")
	update.MarkFlagsOneRequired(fields...)
	return r.Command
}

// subscriptionFlags are the fields of a subscription.
var subscriptionFlags = []string{"plan", "status", "product", "interval"}

func bindSubscription(f *pflag.FlagSet) {
	f.String("plan", "", "the `plan` of the subscription, see: teamdata plan list")
	f.String("status", "", "its `status`; active, trialing and pastDue grant what the plan includes")
	f.String("product", "", "the `product` that is subscribed to")
	f.String("interval", "", "how often it is paid, such as month, year or none")
}
