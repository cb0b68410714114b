package operator

import "github.com/spf13/cobra"

func operatorTokenCommand(e *env) *cobra.Command {
	r := newResource(e, "operator-token", "Manage the tokens that open the admin API over HTTPS")
	r.add(action{
		use: "create --name NAME",
		long: `Creates a token and prints it once: only its hash is stored. Until it expires
or is revoked, it gives access to the admin API over HTTPS, for all orgs.`,
		example: "operator-token create --name CI --expires-at 2160h\noperator-token create --name laptop --quiet > operator.token",
		op:      createOperatorToken,
		shows:   "token", secret: true, done: "the token is shown only this once; it opens everything, so keep it like a password",
	})
	r.add(action{
		use:     "list",
		example: "operator-token list",
		op:      listOperatorTokens,
		columns: columns{"TOKEN", "id", "EXPIRES", "expiresAt", "NAME", "name", "CREATED", "createdAt"},
		none:    "no operator tokens; create one with: teamdata operator-token create --name NAME",
	})
	r.add(action{
		use:     "revoke TOKEN",
		example: "operator-token revoke opr_1 --yes",
		op:      revokeOperatorToken,
		confirm: "This permanently revokes the operator token {id}",
		done:    "operator token {id} is revoked",
	})
	return r.Command
}
