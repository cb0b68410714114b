package operator

import (
	"errors"
	"net/http"

	"github.com/spf13/cobra"
)

func auditCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "audit", "An org's audit log")
	n.addList(verb{
		short:   "List the audit log, oldest first",
		example: "audit list\naudit list --json",
		run: func(s *session, _ []string) error {
			return s.list(s.path("audit-log"), nil, columns{"ENTRY", "id", "WHEN", "createdAt", "ACTOR", "actorId", "ACTION", "action", "TARGET", "targetId"},
				"no audit entries yet")
		},
	})
	var file string
	f := n.add(verb{
		use: "add", short: "Add audit entries", args: cobra.NoArgs,
		long: `Add adds one entry, or with --file all entries of a file: a JSON object a line,
with action, and actorId and targetId where there are such; --actor stands for an
actorId that is missing. They are sent in batches of 1,000, each of which is kept
as a whole or not at all.

With --idempotency-key KEY the batches have the keys KEY-1, KEY-2 and so on: run
again with the same file after an interruption, it adds none twice.`,
		example: "audit add --action invoice.paid --target-id inv_1 --actor usr_ada\naudit add --file entries.jsonl --idempotency-key july\naudit add --file - < entries.jsonl",
		run: func(s *session, _ []string) error {
			if file != "" {
				return s.push(file)
			}
			return s.ask(http.MethodPost, s.path("audit-log"), given(s.cmd.Flags(), "action", "target-id"), "id")
		},
	})
	f.String("action", "", "what was done, such as invoice.paid")
	f.String("target-id", "", "the `id` of what it was done to")
	f.StringVar(&file, "file", "", "a `file` with an entry a line; - is the standard input")
	n.find("add").MarkFlagsOneRequired("action", "file")
	n.find("add").MarkFlagsMutuallyExclusive("action", "file")
	n.find("add").MarkFlagsMutuallyExclusive("target-id", "file")
	return n.Command
}

var errNoEntries = errors.New("there is no entry in the file; give one JSON object a line")
