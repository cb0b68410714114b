package operator

import "github.com/spf13/cobra"

func fileCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "file", "Report the files of an org")
	r.add(action{
		use: "add --name NAME --content-type TYPE --size BYTES", short: "Report a file that was uploaded",
		long: `Reports a file that your software keeps. This adds an audit entry, and sends
the event file.uploaded to the endpoints that select it.`,
		example: "file add --name plan.pdf --content-type application/pdf --size 48213 --actor usr_ada",
		op:      addFile,
	})
	return r.Command
}
