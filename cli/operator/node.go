package operator

import "github.com/spf13/cobra"

func nodeCommand(e *env) *cobra.Command {
	r := newResource(e, "node", "Show the servers on the data")
	r.add(action{
		use: "list", short: "List the servers on the data",
		long: `Shows the servers that share a database, with how many of the 64 shards of
endpoints each one sends for, and how far the database's clock is ahead of its
own. A node that was killed or cut off is shown as lost for an hour. A data
file has one server or none.`,
		example: "node list\nnode list --json",
		op:      listNodes,
		columns: columns{"NODE", "name", "STATE", "state", "VERSION", "version", "SHARDS", "shards", "CLOCK OFFSET (ms)", "clockOffsetMs", "SEEN", "seenAt"},
		none:    "no server is using the data",
	})
	return r.Command
}
