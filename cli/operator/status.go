package operator

import "github.com/spf13/cobra"

func statusCommand(e *env) *cobra.Command {
	cmd := e.command(&action{
		use: "status", short: "Show the state of the server and its data file",
		long:    "Status shows the state of the server and of its data file, how much waits to be\nsent, and which deleted orgs have data that is still being dropped.",
		example: "status\nstatus --json",
		route:   "GET /status", shows: "version",
	}, idList{})
	e.bind(cmd.Flags())
	return cmd
}
