package operator

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/spf13/cobra"
)

// endpointStates adds what switches an endpoint on and off and tries it out.
func endpointStates(n *noun) {
	n.add(verb{
		use: "enable ENDPOINT", short: "Enable an endpoint: what was held goes out, in order", args: one, ids: endpointIDs,
		example: "endpoint enable whe_hook",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPost, s.path("endpoints", args[0], "enable"), nil, "id")
		},
	})
	n.add(verb{
		use: "disable ENDPOINT", short: "Disable an endpoint: its events are held", args: one, ids: endpointIDs,
		example: "endpoint disable whe_hook",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPost, s.path("endpoints", args[0], "disable"), nil, "id")
		},
	})
	n.add(verb{
		use: "test ENDPOINT", short: "Send a webhook.test to an endpoint", args: one, ids: endpointIDs,
		long:    "Test sends the event webhook.test to the endpoint, whatever it selects, and\nprints the delivery's id; see how it went with: teamdata delivery show ID",
		example: "endpoint test whe_hook\ndelivery show $(teamdata endpoint test whe_hook --quiet)",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPost, s.path("endpoints", args[0], "test"), nil, "id")
		},
	})
}

func endpointSecrets(n *noun) {
	n.add(verb{
		use: "secret ENDPOINT", short: "Show the secret that signs an endpoint's events", args: one, ids: endpointIDs,
		example: "endpoint secret whe_hook\nendpoint secret whe_hook --quiet > hook.secret",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodGet, s.path("endpoints", args[0], "secret"), nil, "secret")
		},
	})
	var overlap time.Duration
	var secretFile string
	f := n.add(verb{
		use: "rotate ENDPOINT", short: "Give an endpoint another secret", args: one, ids: endpointIDs,
		long: `Rotate gives an endpoint another secret and prints it. With --overlap the old one
signs beside it for a while, so that no receiver misses an event.`,
		example: "endpoint rotate whe_hook --overlap 24h\nendpoint rotate whe_hook --yes --secret-file hook.secret",
		confirm: func(args []string) string {
			if overlap > 0 {
				return ""
			}
			return "This replaces the secret of " + args[0] + " at once: receivers refuse events until they have the new one, unless --overlap gives them time"
		},
		run: func(s *session, args []string) error {
			body := object{"overlapSeconds": json.Number(seconds(overlap))}
			if err := s.addSecret(body, secretFile); err != nil {
				return err
			}
			return s.secret(s.path("endpoints", args[0], "rotate"), body, "secret", "receivers need the new secret now; see it again with: teamdata endpoint secret "+args[0])
		},
	})
	f.DurationVar(&overlap, "overlap", 0, "how long the old secret signs too, to 168h")
	bindSecretFile(f, &secretFile)
}

func endpointRecover(n *noun) {
	f := n.add(verb{
		use: "recover ENDPOINT --since TIME", short: "Send again all that was tried in vain since a time", args: one, ids: endpointIDs,
		long:    "Recover makes each event that failed, or still waits after a failure, due now.\nReceivers know by webhook-id what they have already.",
		example: "endpoint recover whe_hook --since 24h\nendpoint recover whe_hook --since 2026-11-21T12:00:00Z",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPost, s.path("endpoints", args[0], "recover"), given(s.cmd.Flags(), "since"), "recovered")
		},
	})
	f.Var(&moment{sign: -1}, "since", "the `time`, such as 2026-11-21T12:00:00Z, or how long ago, such as 24h")
	require(f, "since")
}

// find is the verb with a name.
func (n *noun) find(name string) *cobra.Command {
	for _, cmd := range n.Commands() {
		if cmd.Name() == name {
			return cmd
		}
	}
	panic("no verb " + name)
}

// seconds is a duration in whole seconds.
func seconds(d time.Duration) string { return strconv.FormatInt(int64(d/time.Second), 10) }
