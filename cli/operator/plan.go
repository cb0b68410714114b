package operator

import "github.com/spf13/cobra"

func planCommand(e *env) *cobra.Command {
	r := newResource(e, "plan", "Manage the plans, each a set of features", idList{"/plans", "name"})
	r.add(action{
		use: "list", short: "List the plans",
		example: "plan list",
		route:   "GET /plans",
		columns: columns{"PLAN", "name", "FEATURES", "features", "BUILT IN", "builtIn"},
		none:    "no plans",
	})
	put := func(use, short, example string, isNew bool) {
		f := r.add(action{
			use: use + " PLAN --features FEATURES", short: short, example: example,
			route: "PUT /plans/{id}", fields: []string{"features"}, shows: "name",
			addTo: func(s *session, _ object) error {
				_, err := s.named(r, isNew)
				return err
			},
		}).Flags()
		f.StringSlice("features", nil, "the `features` of the plan, of api, webhooks and auditLog; may be empty")
		require(f, "features")
	}
	put("create", "Create a plan", "plan create pro --features api,webhooks\nplan create nothing --features ''", true)
	put("update", "Update the features of a plan", "plan update pro --features api,webhooks,auditLog", false)
	r.add(action{
		use: "delete PLAN", short: "Delete a plan that no org has",
		example: "plan delete pro --yes",
		route:   "DELETE /plans/{id}",
		confirm: "This deletes the plan {id}",
		done:    "plan {id} is deleted",
	})
	return r.Command
}
