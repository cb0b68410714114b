package operator

import "github.com/spf13/cobra"

// newSubscription has the fields that the subscription of a new org has.
var newSubscription = updateSubscription.without("id")

func orgCommand(e *env) *cobra.Command {
	r := newResource(e, "org", "Manage orgs, which own all other data")
	newSubscription.bind(r.add(action{
		use: "create --name NAME", makes: true,
		long: `Creates an org, and the data file too if there is none and no server is
running.`,
		example: "org create --name Acme --id org_acme\norg create --name Acme --plan business",
		op:      createOrg,
		addTo: func(s *session, body object) error {
			if subscription := newSubscription.fieldsSet(s.cmd.Flags()); len(subscription) > 0 {
				body["subscription"] = subscription
			}
			return nil
		},
	}).Flags())
	r.add(action{
		use:     "list",
		example: "org list\norg list --json",
		op:      listOrgs,
		columns: columns{"ORG", "id", "STATUS", "subscription.status", "PLAN", "subscription.plan", "NAME", "name", "CREATED", "createdAt"},
		none:    "no orgs yet; create one with: teamdata org create --name NAME",
	})
	r.add(action{use: "show [ORG]", short: "Show an org", example: "org show org_acme", op: readOrg})
	r.add(action{
		use: "update [ORG] --name NAME", short: "Rename an org",
		example: `org update org_acme --name "Acme Ltd"`,
		op:      updateOrg,
	})
	r.add(action{
		use: "delete ORG", short: "Delete an org with all that it owns",
		long: `Deletes an org with its members, audit log, instructions, API keys, endpoints
and deliveries. From then on the org is not found, its API keys are unknown,
and nothing more is sent.

A running server removes the data in the background, in small steps, and
continues after a restart. Until it is done, no org can be created with the
same id. Backups still contain the data.`,
		example: "org delete org_acme\norg delete org_acme --yes",
		op:      deleteOrg,
		confirm: "This deletes the org {id} with its members, audit log, API keys, endpoints and deliveries",
	})
	return r.Command
}

func subscriptionCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "subscription", "Manage the subscription of an org, which sets its plan")
	r.add(action{use: "show", short: "Show the subscription", example: "subscription show --org org_acme", op: readSubscription})
	r.add(action{
		use: "update", short: "Update the subscription",
		long:    "Changes what is given, and leaves the rest as it is. Endpoints that select the\nevent subscription.changed receive it.",
		example: "subscription update --org org_acme --plan team\nsubscription update --org org_acme --status canceled",
		op:      updateSubscription,
	})
	return r.Command
}
