package operator

import (
	"github.com/spf13/cobra"

	"teamdata/internal/hint"
)

func keyCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "key", "Manage the API keys of an org")
	r.add(action{
		use: "create --scopes SCOPES --created-by USER",
		long: `Creates an API key and prints it once: only its hash is stored. The key works
while the member who created it is an owner or admin of the org. It is
suspended while they have another role, and revoked when they are removed.

A consumer pulls events with a key of the scope receive: from the endpoints that
are named, each with an --endpoint, or from all that the org has of the kind.`,
		example: "key create --scopes read --created-by usr_ada --name reader\nkey create --scopes read,write --created-by usr_ada --expires-at 720h\nkey create --scopes read --created-by usr_ada --quiet > key\nkey create --scopes receive --endpoint whe_pull --created-by usr_ada",
		op:      createKey,
		addTo: func(_ *session, body object) error {
			if ids, named := body["endpoints"].([]string); named && len(ids) == 0 { // such as of an unset variable: the key would get all
				return hint.New("--endpoint is empty", "name an endpoint, or leave it out for all pull endpoints of the org")
			}
			return nil
		},
		shows: "key", secret: true, done: "the key is shown only this once; keep it like a password",
	})
	r.add(action{
		use:     "list",
		example: "key list --org org_acme",
		op:      listKeys,
		columns: columns{"KEY", "id", "STATE", "state", "SCOPES", "scopes", "NAME", "name", "ENDPOINTS", "endpoints", "CREATED BY", "createdBy", "EXPIRES", "expiresAt", "LAST USED", "lastUsedAt"},
		none:    "no API keys yet; create one with: teamdata key create --scopes read --created-by USER",
	})
	r.add(action{use: "show KEY", short: "Show an API key, without its secret", example: "key show key_reader", op: readKey})
	r.add(action{
		use:     "revoke KEY",
		example: "key revoke key_reader\nkey revoke key_reader --yes",
		op:      revokeKey,
		confirm: "This permanently revokes the API key {id}",
	})
	return r.Command
}
