package operator

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

func signInLinkCommand(e *env) *cobra.Command {
	return e.linkCommand(action{
		use: "signin-link USER", short: "Let an owner, admin or viewer sign in to the settings page",
		long: `Prints a link with which an owner, admin or viewer of the org chooses a
password for the settings page, also after forgetting the old one. The link
works once. Whoever has it can sign in as that user: hand it over as carefully
as a password, or have it mailed.`,
		example: "signin-link usr_ada\nsignin-link usr_ada --expires-in 1h --mail\nsignin-link usr_ada --public-url https://data.example.com    # while no server runs",
		op:      createSignInLink,
	})
}

func portalLinkCommand(e *env) *cobra.Command {
	var role string
	cmd := e.linkCommand(action{
		use: "portal-link USER", short: "Sign a person in to the settings page of one org",
		long: `Prints a link that signs a person in to the settings page of one org, with one
role and without a password. It is for products that show the page as their
own. The person need not be a member, and does not become one. The link works
once. Whoever has it can sign in as that person.`,
		example: "portal-link usr_ada --role viewer\nportal-link usr_ada --role admin --name \"Ada Okafor\" --expires-in 5m",
		op:      createPortalLink.without("role"), argument: "userId",
		addTo: func(_ *session, body object) error {
			body["role"] = role
			return nil
		},
	})
	words := cobra.FixedCompletions([]cobra.Completion{"viewer", "admin"}, cobra.ShellCompDirectiveNoFileComp)
	cmd.Flags().StringVar(&role, "role", "viewer", "the `role` that the person has there: viewer (sees everything but secrets) or admin")
	cmd.RegisterFlagCompletionFunc("role", words)
	return cmd
}

// linkCommand is the command that makes a link by which a user signs in.
func (e *env) linkCommand(a action) *cobra.Command {
	a.print, a.secret = (*session).showLink, true
	cmd := e.single(a, idList{listMembers, "userId"})
	cmd.Flags().StringVar(&e.target.PublicURL, "public-url", "", "the `URL` at which people reach the server; only needed while none is running")
	return cmd
}

func (s *session) showLink(answer json.RawMessage) error {
	var link struct{ URL, Role, ExpiresAt, MailedTo string }
	switch {
	case json.Unmarshal(answer, &link) != nil:
		return errForm
	case link.URL == "" && link.MailedTo == "":
		return errAnsweredOnce("link")
	case s.json:
		return s.out.text(string(answer))
	case link.MailedTo != "":
		return s.printDone("a link will be mailed to %s", link.MailedTo)
	}
	if err := s.out.line(terminal.Plain(link.URL)); err != nil {
		return err
	}
	does := "chooses a password and signs in"
	if link.Role != "" {
		does = "signs in as " + link.Role
	}
	s.note("with this link %s %s; it works once, until %s, for whoever has it", s.args[0], does, s.out.when(link.ExpiresAt, toSecond+" UTC"))
	return nil
}

func portalSessionCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "portal-session", "List and end the sessions that portal links began")
	r.add(action{
		use: "list", short: "List who is signed in through a portal link, oldest first",
		example: "portal-session list --org org_acme",
		op:      listPortalSessions,
		columns: columns{"SESSION", "id", "ROLE", "role", "USER", "userId", "NAME", "name", "SIGNED IN", "createdAt", "LAST SEEN", "lastSeenAt"},
		none:    "nobody is signed in through a portal link; make one with: teamdata portal-link USER",
	})
	r.add(action{
		use: "end SESSION", short: "Sign out a person who came through a portal link",
		example: "portal-session end ses_01JD --yes",
		op:      endPortalSession,
		confirm: "This signs out the person of portal session {id}; another portal link signs them in again",
		done:    "portal session {id} has ended",
	})
	return r.Command
}
