package operator

import "github.com/spf13/cobra"

func keyCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "key", "Manage the API keys of an org", idList{"/orgs/{org}/keys", "id"})
	f := r.add(action{
		use: "create --scopes SCOPES --created-by USER", short: "Create an API key",
		long: `Create creates an API key and prints it, once: only its hash is stored. The key
works while the member who created it is an owner or admin of the org, is suspended
while they have another role, and is revoked when they are removed.`,
		example: "key create --scopes read --created-by usr_ada --name reader\nkey create --scopes read,write --created-by usr_ada --expires-at 720h\nkey create --scopes read --created-by usr_ada --quiet > key",
		route:   "POST /orgs/{org}/keys", fields: []string{"scopes", "created-by", "name", "expires-at"},
		shows: "key", secret: true, done: "the key is shown this once; keep it like a password",
	}).Flags()
	f.StringSlice("scopes", nil, "what the key may do: `scopes`, of read and write")
	f.String("created-by", "", "the `user` whose key it is, an owner or admin")
	f.String("name", "", "a `name`, for people")
	bindExpiry(f)
	require(f, "scopes", "created-by")
	r.add(action{
		use: "list", short: "List the API keys",
		example: "key list --org org_acme",
		route:   "GET /orgs/{org}/keys",
		columns: columns{"KEY", "id", "NAME", "name", "STATE", "state", "SCOPES", "scopes", "CREATED BY", "createdBy", "EXPIRES", "expiresAt", "LAST USED", "lastUsedAt"},
		none:    "no API keys yet; create one with: teamdata key create --scopes read --created-by USER",
	})
	r.add(action{
		use: "show KEY", short: "Show an API key, without its secret",
		example: "key show key_reader",
		route:   "GET /orgs/{org}/keys/{id}",
	})
	r.add(action{
		use: "revoke KEY", short: "Revoke an API key, at once",
		example: "key revoke key_reader\nkey revoke key_reader --yes",
		route:   "POST /orgs/{org}/keys/{id}/revoke",
		confirm: "This revokes the API key {id} for ever",
	})
	return r.Command
}
