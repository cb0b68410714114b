package operator

import "github.com/spf13/cobra"

func operatorTokenCommand(e *env) *cobra.Command {
	r := newResource(e, "operator-token", "Manage the tokens that open the admin API over HTTPS", idList{"/operator-tokens", "id"})
	f := r.add(action{
		use: "create --name NAME", short: "Create an operator token",
		long: `Create creates a token and prints it, once: only its hash is stored. It opens
the admin API over HTTPS, for all orgs, until it is revoked or expires.`,
		example: "operator-token create --name CI --expires-at 2160h\noperator-token create --name laptop --quiet > operator.token",
		route:   "POST /operator-tokens", fields: []string{"name", "expires-at"},
		shows: "token", secret: true, done: "the token is shown this once; it opens everything, so keep it like a password",
	}).Flags()
	f.String("name", "", "a `name`, for people")
	bindExpiry(f)
	require(f, "name")
	r.add(action{
		use: "list", short: "List the operator tokens",
		example: "operator-token list",
		route:   "GET /operator-tokens",
		columns: columns{"TOKEN", "id", "NAME", "name", "CREATED", "createdAt", "EXPIRES", "expiresAt"},
		none:    "no operator tokens; create one with: teamdata operator-token create --name NAME",
	})
	r.add(action{
		use: "revoke TOKEN", short: "Revoke an operator token, at once",
		example: "operator-token revoke opr_1 --yes",
		route:   "DELETE /operator-tokens/{id}",
		confirm: "This revokes the operator token {id} for ever",
		done:    "operator token {id} is revoked",
	})
	return r.Command
}
