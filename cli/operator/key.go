package operator

import (
	"net/http"

	"github.com/spf13/cobra"
)

func keyCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "key", "The API keys of an org")
	keyCreate(n)
	n.addList(verb{
		short:   "List the API keys",
		example: "key list --org org_acme",
		run: func(s *session, _ []string) error {
			return s.list(s.path("keys"), nil, columns{"KEY", "id", "NAME", "name", "SCOPES", "scopes", "CREATED BY", "createdBy", "EXPIRES", "expiresAt", "REVOKED", "revokedAt", "LAST USED", "lastUsedAt"},
				"no API keys yet; make one with: teamdata key create --scopes read --created-by USER")
		},
	})
	n.add(verb{
		use: "show KEY", short: "Show an API key, without its secret", args: one, ids: keyIDs,
		example: "key show key_reader",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodGet, s.path("keys", args[0]), nil, "id")
		},
	})
	n.add(verb{
		use: "revoke KEY", short: "Revoke an API key, at once", args: one, ids: keyIDs,
		example: "key revoke key_reader\nkey revoke key_reader --yes",
		confirm: func(args []string) string { return "This revokes the API key " + args[0] + " for ever" },
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPost, s.path("keys", args[0], "revoke"), nil, "id")
		},
	})
	return n.Command
}

func keyCreate(n *noun) {
	f := n.add(verb{
		use: "create --scopes SCOPES --created-by USER", short: "Make an API key", args: cobra.NoArgs,
		long: `Create makes an API key and prints it, this once: only a hash of it is kept. It
works while the member who made it is an owner or admin of the org.`,
		example: "key create --scopes read --created-by usr_ada --name reader\nkey create --scopes read,write --created-by usr_ada --expires-at 720h\nkey create --scopes read --created-by usr_ada --quiet > key",
		run: func(s *session, _ []string) error {
			body := given(s.cmd.Flags(), "scopes", "created-by", "name", "expires-at")
			return s.secret(s.path("keys"), body, "key", "the key is shown this once; keep it like a password")
		},
	})
	f.StringSlice("scopes", nil, "what it may do: `scopes`, of read and write")
	f.String("created-by", "", "the `user` whose key it is, an owner or admin")
	f.String("name", "", "a `name`, for people")
	f.Var(&moment{sign: 1}, "expires-at", "when it ends, such as 2027-01-01 or 720h from now; default: never")
	require(f, "scopes", "created-by")
}
