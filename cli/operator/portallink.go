package operator

import (
	"time"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

func portalLinkCommand(e *env) *cobra.Command {
	var role, name, email string
	var expiresIn time.Duration
	cmd := e.command(&action{
		use: "portal-link USER", short: "Sign a person in to the settings page of one org",
		long: `Portal-link prints a link that signs a person in to the settings page of one org
with one role, without a password: for a product that shows the page as its own.
The person need not be a member, and does not become one. The link works once.
Whoever has it can sign in as that person.`,
		example: "portal-link usr_ada --role viewer\nportal-link usr_ada --role admin --name \"Ada Okafor\" --expires-in 5m",
		route:   "POST /orgs/{org}/portal-link",
		do: func(s *session) error {
			return s.portalLink(object{"userId": s.args[0], "role": role, "name": name, "email": email, "expiresInSeconds": int64(expiresIn / time.Second)})
		},
	}, idList{"/orgs/{org}/members", "userId"})
	f := cmd.Flags()
	e.bind(f)
	e.bindOrg(f)
	f.StringVar(&role, "role", "viewer", "what the person may do there: viewer (sees everything but secrets) or admin")
	f.StringVar(&name, "name", "", "the person's `name`, for the page; default: that of the member, if the person is one")
	f.StringVar(&email, "email", "", "the person's `address`, for the page; default: that of the member")
	f.DurationVar(&expiresIn, "expires-in", time.Hour, "how long the link works, at most 1h")
	f.StringVar(&e.target.PublicURL, "public-url", "", "the `URL` at which people reach the server, while none runs; a server knows its own")
	return cmd
}

func (s *session) portalLink(body object) error {
	var link struct{ URL, Role, ExpiresAt string }
	a, err := s.read("POST /orgs/{org}/portal-link", body, &link)
	if err != nil {
		return err
	}
	switch {
	case link.URL == "":
		return errAnsweredOnce("link")
	case s.json:
		return s.out.json(a.body)
	}
	if err := s.out.line(terminal.Plain(link.URL)); err != nil {
		return err
	}
	s.note("with this link %s signs in as %s; it works once, until %s, for whoever has it", s.args[0], link.Role, link.ExpiresAt)
	return nil
}

func portalSessionCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "portal-session", "List and end the sessions that portal links began", idList{"/orgs/{org}/portal-sessions", "id"})
	r.add(action{
		use: "list", short: "List who is signed in through a portal link, oldest first",
		example: "portal-session list --org org_acme",
		route:   "GET /orgs/{org}/portal-sessions",
		columns: columns{"SESSION", "id", "USER", "userId", "ROLE", "role", "NAME", "name", "SIGNED IN", "createdAt", "LAST SEEN", "lastSeenAt"},
		none:    "nobody is signed in through a portal link; make one with: teamdata portal-link USER",
	})
	r.add(action{
		use: "end SESSION", short: "Sign a person out who came through a portal link",
		example: "portal-session end ses_01JD --yes",
		route:   "DELETE /orgs/{org}/portal-sessions/{id}",
		confirm: "This signs the person of portal session {id} out; another portal link signs them in again",
		done:    "portal session {id} has ended",
	})
	return r.Command
}
