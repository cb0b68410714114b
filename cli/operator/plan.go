package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func planCommand(k *kit) *cobra.Command {
	n := newNoun(k, "plan", "What orgs may use, by plan")
	n.addList(verb{
		short:   "List the plans",
		example: "plan list",
		run: func(s *session, _ []string) error {
			return s.list("/plans", nil, columns{"PLAN", "name", "FEATURES", "features", "BUILT IN", "builtIn"}, "no plans")
		},
	})
	f := n.add(verb{
		use: "set PLAN --features FEATURES", short: "Add a plan, or change one of yours", args: one, ids: planIDs,
		example: "plan set pro --features api,webhooks\nplan set nothing --features ''",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPut, pathTo("plans", args[0]), given(s.cmd.Flags(), "features"), "name")
		},
	})
	f.StringSlice("features", nil, "its `features`, of api, webhooks and auditLog")
	require(f, "features")
	n.add(verb{
		use: "remove PLAN", short: "Remove a plan that no org has", args: one, ids: planIDs,
		example: "plan remove pro --yes",
		confirm: func(args []string) string { return "This removes the plan " + args[0] },
		run: func(s *session, args []string) error {
			return s.remove(pathTo("plans", args[0]), "plan "+args[0])
		},
	})
	return n.Command
}
