package operator

import (
	"net/http"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func endpointCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "endpoint", "Where an org's events are sent")
	endpointCreate(n)
	n.addList(verb{
		short:   "List the endpoints",
		example: "endpoint list --org org_acme",
		run: func(s *session, _ []string) error {
			return s.list(s.path("endpoints"), nil, columns{"ENDPOINT", "id", "DISABLED", "disabledAt", "EVENTS", "events", "URL", "url", "DESCRIPTION", "description"},
				"no endpoints yet; add one with: teamdata endpoint create --url https://… --events member.added")
		},
	})
	n.add(verb{
		use: "show ENDPOINT", short: "Show an endpoint", args: one, ids: endpointIDs,
		example: "endpoint show whe_hook",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodGet, s.path("endpoints", args[0]), nil, "id")
		},
	})
	change := n.add(verb{
		use: "change ENDPOINT", short: "Change an endpoint's address, events or description", args: one, ids: endpointIDs,
		long:    "Change changes what is given and leaves the rest. What waits goes to the new\naddress.",
		example: "endpoint change whe_hook --url https://example.com/hook2",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPatch, s.path("endpoints", args[0]), given(s.cmd.Flags(), endpointFlags...), "id")
		},
	})
	bindEndpoint(change)
	n.find("change").MarkFlagsOneRequired(endpointFlags...)
	n.add(verb{
		use: "remove ENDPOINT", short: "Remove an endpoint and its deliveries", args: one, ids: endpointIDs,
		example: "endpoint remove whe_hook --yes",
		confirm: func(args []string) string {
			return "This removes the endpoint " + args[0] + " with its deliveries, those that wait too"
		},
		run: func(s *session, args []string) error {
			return s.remove(s.path("endpoints", args[0]), "endpoint "+args[0])
		},
	})
	endpointStates(n)
	endpointSecrets(n)
	endpointRecover(n)
	return n.Command
}

func endpointCreate(n *noun) {
	var secretFile string
	f := n.add(verb{
		use: "create --url URL --events EVENTS", short: "Add an endpoint", args: cobra.NoArgs,
		long: `Create adds an endpoint, with a secret that is made for it. Receivers verify
events with it; see it again with: teamdata endpoint secret ENDPOINT`,
		example: "endpoint create --url https://example.com/hook --events member.added,member.removed\nendpoint create --url https://example.com/hook --events member.added --secret-file hook.secret",
		run: func(s *session, _ []string) error {
			body := given(s.cmd.Flags(), append([]string{"id"}, endpointFlags...)...)
			if err := s.addSecret(body, secretFile); err != nil {
				return err
			}
			return s.ask(http.MethodPost, s.path("endpoints"), body, "id")
		},
	})
	bindEndpoint(f)
	f.String("id", "", "an `id` of your own, 1 to 64 of A-Z a-z 0-9 _ and -")
	bindSecretFile(f, &secretFile)
	require(f, "url", "events")
}

var endpointFlags = []string{"url", "events", "description"}

func bindEndpoint(f *pflag.FlagSet) {
	f.String("url", "", "the `URL` that events are posted to, with https")
	f.StringSlice("events", nil, "the `events` it gets, see: teamdata event-type list")
	f.String("description", "", "a `text`, for people")
}

func bindSecretFile(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "secret-file", "", "a `file` with a secret of your own, whsec_ and the base64 of 24 to 64 bytes; - is the standard input")
}

// addSecret reads a secret of one's own into a request's body.
func (s *session) addSecret(body object, file string) error {
	if file == "" {
		return nil
	}
	text, err := readInput(s.cmd, "secret-file", file)
	body["secret"] = strings.TrimSpace(string(text))
	return err
}
