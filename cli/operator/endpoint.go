package operator

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"teamdata/internal/hint"
)

func endpointCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "endpoint", "Manage the endpoints that an org's events are sent to, or pulled from")
	endpointCreate(r)
	r.add(action{
		use: "list", short: "List the endpoints",
		example: "endpoint list --org org_acme",
		op:      listEndpoints,
		columns: columns{"ENDPOINT", "id", "KIND", "kind", "DISABLED", "disabledAt", "LAST PULLED", "lastPulledAt", "URL", "url", "EVENTS", "events", "DESCRIPTION", "description"},
		none:    "no endpoints yet; create one with: teamdata endpoint create --url https://… --events member.added",
	})
	endpointShow(r)
	endpointUpdate(r)
	r.add(action{
		use: "delete ENDPOINT", short: "Delete an endpoint and its deliveries",
		example: "endpoint delete whe_hook --yes",
		op:      deleteEndpoint,
		confirm: "This deletes the endpoint {id} with its deliveries, including those that are waiting",
	})
	r.add(action{use: "enable ENDPOINT", short: "Enable an endpoint: held deliveries are sent or pulled, in order", example: "endpoint enable whe_hook", op: enableEndpoint})
	r.add(action{use: "disable ENDPOINT", short: "Disable an endpoint: its deliveries are held", example: "endpoint disable whe_hook", op: disableEndpoint})
	r.add(action{
		use: "test ENDPOINT", short: "Send a test event to an endpoint",
		long: `Sends the event webhook.test, whatever the endpoint selects, and prints the
delivery. With --type it sends the example of another event type, marked with
"test":true. To see how it went: teamdata delivery show ID`,
		example: "endpoint test whe_hook\nendpoint test whe_hook --type member.added\ndelivery show $(teamdata endpoint test whe_hook --quiet)",
		op:      testEndpoint,
	})
	endpointRotate(r)
	return r.Command
}

func endpointCreate(r *resource) {
	var secretFile string
	var pull bool
	var addOptions func(*session, object) error
	cmd := r.add(action{
		use: "create --events EVENTS {--url URL | --pull}", short: "Create an endpoint",
		long: `Creates an endpoint, with a generated secret unless you give one. Receivers
verify events with it. To see it again:

  teamdata endpoint show ENDPOINT --secret

With --pull nothing is sent: consumers pull the events, with a key of
teamdata key create --scopes receive.

` + eventsHelp + `

` + optionsHelp,
		example: "endpoint create --url https://example.com/hook --events member.added,file.uploaded\nendpoint create --url https://example.com/hook --events '*'\nendpoint create --url https://example.com/hook --events member.added --secret-file hook.secret\nendpoint create --url https://example.com/hook --events '*' --header 'X-Tenant: acme' --rate 10/s\nendpoint create --pull --events '*' --description 'The warehouse'",
		op:      createEndpoint.without("kind").withoutFiles(),
		addTo: func(s *session, body object) error {
			if pull {
				body["kind"] = "pull"
			}
			if err := addOptions(s, body); err != nil {
				return err
			}
			return s.addSecret(body, secretFile)
		},
	})
	_, addOptions = bindOptions(cmd)
	bindSecretFile(cmd, &secretFile)
	cmd.Flags().BoolVar(&pull, "pull", false, "let consumers pull the events, which are sent nowhere")
	cmd.MarkFlagsOneRequired("url", "pull")
}

func endpointUpdate(r *resource) {
	var addOptions func(*session, object) error
	op := updateEndpoint.withoutFiles()
	cmd := r.add(action{
		use: "update ENDPOINT", short: "Update an endpoint's URL, events, description or options",
		long: `Changes what is given, and leaves the rest as it is. Waiting deliveries go to
the new URL. An endpoint that is pulled has none, and stays one.

` + eventsHelp + `

` + optionsHelp + `

To remove a header, give its name alone: --header 'X-Api-Key:'. An empty value,
as in --rate '' or --client-cert '', clears an option, and so does
--max-in-flight 0.`,
		example: "endpoint update whe_hook --url https://example.com/hook2\nendpoint update whe_hook --events 'member.*,invoice.paid'\nendpoint update whe_hook --header @gateway.headers --rate 10/s --max-in-flight 4\nendpoint update whe_hook --client-cert client.pem --client-key client.key",
		op:      op,
		addTo:   func(s *session, body object) error { return addOptions(s, body) },
	})
	var names []string
	names, addOptions = bindOptions(cmd)
	cmd.MarkFlagsOneRequired(append(op.names(), names...)...)
}

func endpointShow(r *resource) {
	var secret, headers bool
	cmd := r.add(action{
		use: "show ENDPOINT", short: "Show an endpoint, or the secret that signs its events",
		example: "endpoint show whe_hook\nendpoint show whe_hook --secret --quiet > hook.secret\nendpoint show whe_hook --headers > gateway.headers",
		do: func(s *session) error {
			switch {
			case secret:
				return s.ask(&action{op: readSecret, shows: "secret"}, nil)
			case headers:
				return s.ask(&action{op: readHeaders, print: printHeaders}, nil)
			}
			return s.ask(&action{op: readEndpoint}, nil)
		},
	})
	cmd.Flags().BoolVar(&secret, "secret", false, "show the secret, and during a rotation the old one too")
	cmd.Flags().BoolVar(&headers, "headers", false, "show the headers of its own with their values")
	cmd.MarkFlagsMutuallyExclusive("secret", "headers")
}

func endpointRotate(r *resource) {
	var secretFile string
	bindSecretFile(r.add(action{
		use: "rotate ENDPOINT", short: "Give an endpoint a new secret",
		long: `Replaces the secret and prints the new one. With --overlap the old secret also
signs for that long, so that receivers don't miss an event.`,
		example: "endpoint rotate whe_hook --overlap 24h\nendpoint rotate whe_hook --yes --secret-file hook.secret",
		op:      rotateSecret,
		addTo:   func(s *session, body object) error { return s.addSecret(body, secretFile) },
		asks: func(s *session) (string, error) {
			if s.cmd.Flag("overlap").Value.String() != "" {
				return "", nil
			}
			return fill("This replaces the secret of {id} at once: receivers refuse events until they have the new one, unless --overlap gives them time", s.args), nil
		},
		shows: "secret", secret: true, done: "receivers need the new secret now; see it again with: teamdata endpoint show {id} --secret",
	}), &secretFile)
}

const eventsHelp = `EVENTS are event types, groups such as 'member.*' for all member events, or '*'
for all events. Groups and '*' include types that are created later. Quote a *,
or the shell may replace it with the names of files.`

func bindSecretFile(cmd *cobra.Command, to *string) {
	cmd.Flags().StringVar(to, "secret-file", "", "a `file` with a secret of your own, whsec_ and the base64 of 24 to 64 bytes; - is the standard input")
}

// addSecret reads a secret of one's own into a request's body.
func (s *session) addSecret(body object, file string) error {
	if file == "" {
		return nil
	}
	text, err := readInput(s.cmd, "secret-file", file)
	if err != nil {
		return err
	}
	secrets := strings.Fields(string(text))
	if n := len(secrets); n > 1 && strings.HasPrefix(secrets[1], "whsec_") {
		return hint.New(fmt.Sprintf("--secret-file: %s holds %d secrets, and an endpoint takes one", nameOf(file), n), "give a file with the secret alone")
	}
	body["secret"] = strings.TrimSpace(string(text))
	return nil
}
