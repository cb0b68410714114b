package operator

import (
	"time"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

func signInLinkCommand(e *env) *cobra.Command {
	var mail bool
	var expiresIn time.Duration
	cmd := e.command(&action{
		use: "signin-link USER", short: "Let an owner, admin or viewer sign in to the settings page",
		long: `Signin-link prints a link with which an owner, admin or viewer of the org chooses
a password for the settings page, also after the old one is forgotten. The link
works once. Whoever has it can sign in as that user: hand it over as you would a
password, or have it mailed.`,
		example: "signin-link usr_ada\nsignin-link usr_ada --expires-in 1h --mail\nsignin-link usr_ada --public-url https://data.example.com    # while no server runs",
		route:   "POST /orgs/{org}/members/{id}/signin-link",
		do: func(s *session) error {
			return s.signInLink(object{"expiresInSeconds": int64(expiresIn / time.Second), "mail": mail})
		},
	}, idList{"/orgs/{org}/members", "userId"})
	f := cmd.Flags()
	e.bind(f)
	e.bindOrg(f)
	f.DurationVar(&expiresIn, "expires-in", 24*time.Hour, "how long the link works, at most 168h")
	f.BoolVar(&mail, "mail", false, "mail the link to the user, and don't print it")
	f.StringVar(&e.target.PublicURL, "public-url", "", "the `URL` at which people reach the server, while none runs; a server knows its own")
	return cmd
}

func (s *session) signInLink(body object) error {
	var link struct{ URL, ExpiresAt, MailedTo string }
	a, err := s.read("POST /orgs/{org}/members/{id}/signin-link", body, &link)
	if err != nil {
		return err
	}
	switch {
	case link.URL == "" && link.MailedTo == "":
		return errAnsweredOnce("link")
	case s.json:
		return s.out.json(a.body)
	case link.MailedTo != "":
		return s.said("a link will be mailed to %s", link.MailedTo)
	}
	if err := s.out.line(terminal.Plain(link.URL)); err != nil {
		return err
	}
	s.note("with this link %s chooses a password and signs in; it works once, until %s, for whoever has it", s.args[0], link.ExpiresAt)
	return nil
}
