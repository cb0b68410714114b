package operator

import (
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func orgCommand(k *kit) *cobra.Command {
	n := newNoun(k, "org", "Orgs, the owners of data")
	orgCreate(n)
	n.addList(verb{
		short:   "List the orgs",
		example: "org list\norg list --json",
		run: func(s *session, _ []string) error {
			return s.list("/orgs", nil, columns{"ORG", "id", "NAME", "name", "PLAN", "subscription.plan", "STATUS", "subscription.status", "CREATED", "createdAt"},
				"no orgs yet; make one with: teamdata org create --name NAME")
		},
	})
	k.bindOrg(n.add(verb{
		use: "show [ORG]", short: "Show an org", args: oneOrNone, ids: orgIDs,
		example: "org show org_acme",
		run: func(s *session, args []string) error {
			return s.withOrg(args, func() error { return s.ask(http.MethodGet, s.path(), nil, "id") })
		},
	}))
	rename := n.add(verb{
		use: "rename [ORG] --name NAME", short: "Give an org another name", args: oneOrNone, ids: orgIDs,
		example: `org rename org_acme --name "Acme Ltd"`,
		run: func(s *session, args []string) error {
			return s.withOrg(args, func() error {
				return s.ask(http.MethodPatch, s.path(), given(s.cmd.Flags(), "name"), "id")
			})
		},
	})
	rename.String("name", "", "the new `name`, 1 to 200 characters")
	require(rename, "name")
	k.bindOrg(rename)
	return n.Command
}

func orgCreate(n *noun) {
	f := n.add(verb{
		use: "create --name NAME", short: "Make an org", args: cobra.NoArgs, makes: true,
		long:    "Create makes an org, and the data file too if there is none and no server runs.",
		example: "org create --name Acme --id org_acme\norg create --name Acme --plan business",
		run: func(s *session, _ []string) error {
			body := given(s.cmd.Flags(), "name", "id")
			if subscription := given(s.cmd.Flags(), subscriptionFlags...); len(subscription) > 0 {
				body["subscription"] = subscription
			}
			return s.ask(http.MethodPost, "/orgs", body, "id")
		},
	})
	f.String("name", "", "the `name`, 1 to 200 characters")
	f.String("id", "", "an `id` of your own, 1 to 64 of A-Z a-z 0-9 _ and -")
	bindSubscription(f)
	require(f, "name")
}

// withOrg does something with the org that the arguments name, or the flag.
func (s *session) withOrg(args []string, fn func() error) error {
	if len(args) > 0 {
		s.org = args[0]
	}
	if err := s.findOrg(); err != nil {
		return err
	}
	return fn()
}

// subscriptionFlags are what can be said of a subscription.
var subscriptionFlags = []string{"plan", "status", "product", "interval"}

func bindSubscription(f *pflag.FlagSet) {
	f.String("plan", "", "the `plan` that it has, see: teamdata plan list")
	f.String("status", "", "its `status`; active, trialing and pastDue grant what the plan includes")
	f.String("product", "", "what it is a subscription of")
	f.String("interval", "", "how often it is paid, such as month, year or none")
}
