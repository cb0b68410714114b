package operator

import "github.com/spf13/cobra"

func fileCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "file", "Report the files of an org", idList{})
	f := r.add(action{
		use: "add --name NAME --content-type TYPE --size BYTES", short: "Report a file that was uploaded",
		long: `Add reports a file that your software keeps: it makes an audit entry, and the
event file.uploaded for the endpoints that select it.`,
		example: "file add --name plan.pdf --content-type application/pdf --size 48213 --actor usr_ada",
		route:   "POST /orgs/{org}/files", fields: []string{"name", "content-type", "size", "id"},
	}).Flags()
	f.String("name", "", "the `name` of the file")
	f.String("content-type", "", "its media `type`, such as application/pdf")
	f.Int64("size", 0, "its size in `bytes`")
	f.String("id", "", idUsage)
	require(f, "name", "content-type", "size")
	return r.Command
}
