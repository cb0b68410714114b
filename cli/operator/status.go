package operator

import "github.com/spf13/cobra"

func statusCommand(e *env) *cobra.Command {
	return e.single(action{
		use: "status", short: "Show the state of the server and its data file",
		long:    "Status shows the state of the server and of its data file, how much waits to be\nsent, and which deleted orgs have data that is still being dropped.",
		example: "status\nstatus --json",
		op:      readStatus, shows: "version",
	}, idList{})
}
