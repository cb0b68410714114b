package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func operatorTokenCommand(k *kit) *cobra.Command {
	n := newNoun(k, "operator-token", "Tokens for the admin API over HTTPS")
	f := n.add(verb{
		use: "create --name NAME", short: "Make an operator token", args: cobra.NoArgs,
		long: `Create makes a token and prints it, this once: only a hash of it is kept. It
opens the admin API over HTTPS, for all orgs, until it is revoked or expires.`,
		example: "operator-token create --name CI --expires-at 2160h\noperator-token create --name laptop --quiet > operator.token",
		run: func(s *session, _ []string) error {
			body := given(s.cmd.Flags(), "name", "expires-at")
			return s.secret("/operator-tokens", body, "token", "the token is shown this once; it opens everything, so keep it like a password")
		},
	})
	f.String("name", "", "a `name`, for people")
	f.Var(&moment{sign: 1}, "expires-at", "when it ends, such as 2027-01-01 or 720h from now; default: never")
	require(f, "name")
	n.addList(verb{
		short:   "List the operator tokens",
		example: "operator-token list",
		run: func(s *session, _ []string) error {
			return s.list("/operator-tokens", nil, columns{"TOKEN", "id", "NAME", "name", "CREATED", "createdAt", "EXPIRES", "expiresAt"},
				"no operator tokens; make one with: teamdata operator-token create --name NAME")
		},
	})
	n.add(verb{
		use: "revoke TOKEN", short: "Revoke an operator token, at once", args: one, ids: tokenIDs,
		example: "operator-token revoke opr_1 --yes",
		confirm: func(args []string) string { return "This revokes the operator token " + args[0] + " for ever" },
		run: func(s *session, args []string) error {
			if _, err := s.do(http.MethodDelete, pathTo("operator-tokens", args[0]), nil, nil); err != nil {
				return err
			}
			return s.said("operator token %s is revoked", args[0])
		},
	})
	return n.Command
}
