package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func fileCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "file", "Files that an org has uploaded")
	f := n.add(verb{
		use: "add --name NAME --content-type TYPE --size BYTES", short: "Tell of a file that was uploaded", args: cobra.NoArgs,
		long: `Add tells of a file that your software keeps: it makes an audit entry, and the
event file.uploaded for the endpoints that select it.`,
		example: "file add --name plan.pdf --content-type application/pdf --size 48213 --actor usr_ada",
		run: func(s *session, _ []string) error {
			return s.ask(http.MethodPost, s.path("files"), given(s.cmd.Flags(), "name", "content-type", "size", "id"), "id")
		},
	})
	f.String("name", "", "the `name` of the file")
	f.String("content-type", "", "its media `type`, such as application/pdf")
	f.Int64("size", 0, "how many `bytes` it has")
	f.String("id", "", "an `id` of your own, 1 to 64 of A-Z a-z 0-9 _ and -")
	require(f, "name", "content-type", "size")
	return n.Command
}
