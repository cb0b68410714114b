package operator

import "github.com/spf13/cobra"

func planCommand(e *env) *cobra.Command {
	r := newResource(e, "plan", "Manage the plans, each a set of features")
	r.add(action{
		use:     "list",
		example: "plan list",
		op:      listPlans,
		columns: columns{"PLAN", "name", "FEATURES", "features", "BUILT IN", "builtIn"},
		none:    "no plans",
	})
	put := func(use, short, example string, isNew bool) {
		r.add(action{
			use: use + " PLAN --features FEATURES", short: short, example: example,
			op: putPlan, shows: "name",
			addTo: func(s *session, _ object) error {
				_, err := s.findByName(r, isNew)
				return err
			},
		})
	}
	put("create", "Create a plan", "plan create pro --features api,webhooks\nplan create nothing --features ''", true)
	put("update", "Update the features of a plan", "plan update pro --features api,webhooks,auditLog", false)
	r.add(action{
		use: "delete PLAN", short: "Delete a plan that no org has",
		example: "plan delete pro --yes",
		op:      deletePlan,
		confirm: "This deletes the plan {id}",
	})
	return r.Command
}
