package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"
)

func signInLinkCommand(k *kit) *cobra.Command {
	var mail bool
	var expiresIn time.Duration
	v := verb{inOrg: true, ids: memberIDs, run: func(s *session, args []string) error {
		return s.signInLink(args[0], expiresIn, mail)
	}}
	cmd := &cobra.Command{
		Use: "signin-link USER", Short: "Let an owner or admin sign in to the settings page", Args: one,
		Long: `Signin-link prints a link with which an owner or admin of the org chooses a
password for the settings page, also one who forgot it. It works once. Whoever has
it can sign in as that user: hand it over as you would a password, or let it be
mailed.`,
		Example:           examples("signin-link usr_ada\nsignin-link usr_ada --expires-in 1h --mail\nsignin-link usr_ada --public-url https://data.example.com    # while no server runs"),
		RunE:              func(cmd *cobra.Command, args []string) error { return k.run(cmd, args, v) },
		ValidArgsFunction: k.complete(v),
	}
	k.bind(cmd.Flags())
	k.bindOrg(cmd.Flags())
	cmd.Flags().DurationVar(&expiresIn, "expires-in", 24*time.Hour, "how long it works, up to 168h")
	cmd.Flags().BoolVar(&mail, "mail", false, "mail it to the user instead")
	cmd.Flags().StringVar(&k.target.PublicURL, "public-url", "", "the `URL` at which people reach the server, while none runs; a server knows its own")
	return cmd
}

func (s *session) signInLink(user string, expiresIn time.Duration, mail bool) error {
	body := object{"expiresInSeconds": int64(expiresIn / time.Second), "mail": mail}
	a, err := s.do(http.MethodPost, s.path("members", user, "signin-link"), body, nil)
	if err != nil {
		return err
	}
	var link struct{ URL, ExpiresAt, MailedTo string }
	if err := json.Unmarshal(a.body, &link); err != nil {
		return errForm(err)
	}
	switch {
	case link.URL == "" && link.MailedTo == "":
		return fmt.Errorf("this was done before, under the same --idempotency-key, and the link was told then; for a new one, take another --idempotency-key")
	case s.json:
		return s.out.json(a.body)
	case mail:
		return s.said("a link will be mailed to %s", link.MailedTo)
	}
	if err := s.out.line(plain(link.URL)); err != nil {
		return err
	}
	s.note("with this link %s chooses a password and signs in; it works once, until %s; whoever has it can do so", user, link.ExpiresAt)
	return nil
}
