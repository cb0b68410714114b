package operator

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"teamdata/client/admin/api"
	"teamdata/internal/terminal"
	"teamdata/store"
)

func memberCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "member", "Manage the members of an org")
	r.add(action{
		use:     "add USER --role ROLE",
		long:    "Add adds a user to an org. Endpoints that select the event member.added receive\nit.",
		example: "member add usr_ada --role owner --name Ada --email ada@acme.example",
		op:      addMember, argument: "userId",
	})
	r.add(action{
		use: "list", short: "List the members, oldest first",
		example: "member list\nmember list --json",
		op:      listMembers,
		columns: columns{"USER", "userId", "ROLE", "role", "NAME", "name", "EMAIL", "email", "SINCE", "createdAt"},
		none:    "no members yet; add one with: teamdata member add USER --role owner",
	})
	r.add(action{use: "show USER", short: "Show a member", example: "member show usr_ada", op: readMember})
	r.add(action{
		use: "update USER", short: "Update a member's role, name or address",
		long: `Update changes the fields that are given and leaves the others as they are; an
empty name or address is cleared. An org must have at least one owner. API keys that
the user created are suspended while the role is not owner or admin. Endpoints that
select the event member.changed receive what has changed.`,
		example: "member update usr_bob --role admin\nmember update usr_bob --role member --yes\nmember update usr_bob --email ''",
		op:      updateMember, asks: (*session).keysToSuspend,
	})
	memberImportCommand(r)
	r.add(action{
		use: "remove USER",
		long: `Remove removes a user from an org, and revokes the API keys that the user created.
Endpoints that select the event member.removed receive it.`,
		example: "member remove usr_bob\nmember remove usr_bob --yes --actor usr_ada",
		op:      removeMember,
		asks:    (*session).keysToRevoke, print: (*session).showRemoved,
	})
	return r.Command
}

const createdKeys = " that the user created"

// keysOf counts the API keys that a member created.
func (s *session) keysOf() (active, suspended int, err error) {
	var m api.Member
	_, err = s.read(readMember, nil, &m)
	return m.APIKeys.Active, m.APIKeys.Suspended, err
}

// keysToSuspend describes the keys that a change of role suspends.
func (s *session) keysToSuspend() (string, error) {
	role := s.cmd.Flag("role")
	if !role.Changed || (store.Member{Role: role.Value.String()}).Manages() {
		return "", nil
	}
	active, _, err := s.keysOf()
	if err != nil || active == 0 {
		return "", err
	}
	return "This suspends " + terminal.Count(active, "API key") + createdKeys + ", until " + s.args[0] + " is an owner or admin again", nil
}

// keysToRevoke describes the keys that the removal of a member revokes.
func (s *session) keysToRevoke() (string, error) {
	active, suspended, err := s.keysOf()
	return fill("This removes the member {id}"+andRevokes(" and revokes ", active+suspended), s.args), err
}

func andRevokes(verb string, keys int) string {
	if keys == 0 {
		return ""
	}
	return verb + terminal.Count(keys, "API key") + createdKeys
}

func (s *session) showRemoved(answer json.RawMessage) error {
	var removed api.RemovedMember
	if json.Unmarshal(answer, &removed) != nil {
		return errForm
	}
	return s.printDone("member %s is removed%s", s.args[0], andRevokes(", which revoked ", removed.RevokedKeys))
}
