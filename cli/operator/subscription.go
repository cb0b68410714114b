package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func subscriptionCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "subscription", "The plan that an org has")
	n.add(verb{
		use: "show", short: "Show the subscription", args: cobra.NoArgs,
		example: "subscription show --org org_acme",
		run: func(s *session, _ []string) error {
			return s.ask(http.MethodGet, s.path("subscription"), nil, "id")
		},
	})
	f := n.add(verb{
		use: "change", short: "Change the subscription", args: cobra.NoArgs,
		long:    "Change changes what is given and leaves the rest. Endpoints that select it get\nthe event subscription.changed.",
		example: "subscription change --org org_acme --plan team\nsubscription change --org org_acme --status canceled",
		run: func(s *session, _ []string) error {
			body := given(s.cmd.Flags(), append([]string{"id"}, subscriptionFlags...)...)
			return s.ask(http.MethodPut, s.path("subscription"), body, "id")
		},
	})
	bindSubscription(f)
	f.String("id", "", "another `id` of the subscription")
	n.find("change").MarkFlagsOneRequired(append([]string{"id"}, subscriptionFlags...)...)
	return n.Command
}
