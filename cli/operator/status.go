package operator

import "github.com/spf13/cobra"

func statusCommand(e *env) *cobra.Command {
	return e.single(action{
		use: "status", short: "Show the state of the server and its data file",
		long: `Shows the state of the server and of its data file, how much is waiting to be
sent or pulled, and which deleted orgs still have data to be removed.`,
		example: "status\nstatus --json",
		op:      readStatus, shows: "version",
	}, idList{})
}
