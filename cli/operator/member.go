package operator

import (
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func memberCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "member", "The members of an org")
	add := n.add(verb{
		use: "add USER --role ROLE", short: "Add a member", args: one,
		long:    "Add adds a user to an org. Endpoints that select it get the event member.added.",
		example: "member add usr_ada --role owner --name Ada --email ada@acme.example",
		run: func(s *session, args []string) error {
			body := given(s.cmd.Flags(), memberFlags...)
			body["userId"] = args[0]
			return s.ask(http.MethodPost, s.path("members"), body, "id")
		},
	})
	bindMember(add)
	require(add, "role")
	n.addList(verb{
		short:   "List the members, oldest first",
		example: "member list\nmember list --json",
		run: func(s *session, _ []string) error {
			return s.list(s.path("members"), nil, columns{"USER", "userId", "ROLE", "role", "NAME", "name", "EMAIL", "email", "SINCE", "createdAt"},
				"no members yet; add one with: teamdata member add USER --role owner")
		},
	})
	n.add(verb{
		use: "show USER", short: "Show a member", args: one, ids: memberIDs,
		example: "member show usr_ada",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodGet, s.path("members", args[0]), nil, "id")
		},
	})
	memberChange(n)
	n.add(verb{
		use: "remove USER", short: "Remove a member", args: one, ids: memberIDs,
		long:    "Remove removes a user from an org. API keys that they made stop working.\nEndpoints that select it get the event member.removed.",
		example: "member remove usr_bob\nmember remove usr_bob --yes --actor usr_ada",
		confirm: func(args []string) string {
			return "This removes the member " + args[0] + ", whose API keys stop working"
		},
		run: func(s *session, args []string) error {
			return s.remove(s.path("members", args[0]), "member "+args[0])
		},
	})
	return n.Command
}

func memberChange(n *noun) {
	f := n.add(verb{
		use: "change USER", short: "Change a member's role, name or address", args: one, ids: memberIDs,
		long:    "Change changes what is given and leaves the rest; an empty name or address is\ncleared. An org keeps at least one owner.",
		example: "member change usr_bob --role admin\nmember change usr_bob --email ''",
		run: func(s *session, args []string) error {
			body := given(s.cmd.Flags(), memberFlags...)
			for name, value := range body {
				if value == "" && name != "role" {
					body[name] = nil
				}
			}
			return s.ask(http.MethodPatch, s.path("members", args[0]), body, "id")
		},
	})
	bindMember(f)
	n.find("change").MarkFlagsOneRequired(memberFlags...)
}

var memberFlags = []string{"role", "name", "email"}

func bindMember(f *pflag.FlagSet) {
	f.String("role", "", "the `role`: owner, admin, member, or another of yours, which manages nothing")
	f.String("name", "", "the `name`, for people")
	f.String("email", "", "where the org's mail goes")
}
