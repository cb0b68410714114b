package operator

import (
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func endpointCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "endpoint", "Manage the endpoints that an org's events are sent to", idList{"/orgs/{org}/endpoints", "id"})
	endpointCreate(r)
	r.add(action{
		use: "list", short: "List the endpoints",
		example: "endpoint list --org org_acme",
		route:   "GET /orgs/{org}/endpoints",
		columns: columns{"ENDPOINT", "id", "URL", "url", "DISABLED", "disabledAt", "EVENTS", "events", "DESCRIPTION", "description"},
		none:    "no endpoints yet; create one with: teamdata endpoint create --url https://… --events member.added",
	})
	endpointShow(r)
	update := r.add(action{
		use: "update ENDPOINT", short: "Update an endpoint's URL, events or description",
		long:    "Update changes the fields that are given and leaves the others as they are.\nDeliveries that wait go to the new URL.\n\n" + eventsHelp,
		example: "endpoint update whe_hook --url https://example.com/hook2\nendpoint update whe_hook --events 'member.*,invoice.paid'",
		route:   "PATCH /orgs/{org}/endpoints/{id}", fields: endpointFlags,
	})
	bindEndpoint(update.Flags())
	update.MarkFlagsOneRequired(endpointFlags...)
	r.add(action{
		use: "delete ENDPOINT", short: "Delete an endpoint and its deliveries",
		example: "endpoint delete whe_hook --yes",
		route:   "DELETE /orgs/{org}/endpoints/{id}",
		confirm: "This deletes the endpoint {id} with its deliveries, those that wait too",
		done:    "endpoint {id} is deleted",
	})
	r.add(action{
		use: "enable ENDPOINT", short: "Enable an endpoint: held deliveries are sent, in order",
		example: "endpoint enable whe_hook",
		route:   "POST /orgs/{org}/endpoints/{id}/enable",
	})
	r.add(action{
		use: "disable ENDPOINT", short: "Disable an endpoint: its deliveries are held",
		example: "endpoint disable whe_hook",
		route:   "POST /orgs/{org}/endpoints/{id}/disable",
	})
	endpointTest(r)
	endpointRotate(r)
	endpointRecover(r)
	return r.Command
}

func endpointCreate(r *resource) {
	var secretFile string
	f := r.add(action{
		use: "create --url URL --events EVENTS", short: "Create an endpoint",
		long: `Create creates an endpoint, with a generated secret unless you give one.
Receivers verify events with it. See it again with:
teamdata endpoint show ENDPOINT --secret

` + eventsHelp,
		example: "endpoint create --url https://example.com/hook --events member.added,file.uploaded\nendpoint create --url https://example.com/hook --events '*'\nendpoint create --url https://example.com/hook --events member.added --secret-file hook.secret",
		route:   "POST /orgs/{org}/endpoints", fields: append([]string{"id"}, endpointFlags...),
		addTo: func(s *session, body object) error { return s.addSecret(body, secretFile) },
	}).Flags()
	bindEndpoint(f)
	f.String("id", "", idUsage)
	bindSecretFile(f, &secretFile)
	require(f, "url", "events")
}

func endpointShow(r *resource) {
	var secret bool
	show := &action{
		use: "show ENDPOINT", short: "Show an endpoint, or the secret that signs its events",
		example: "endpoint show whe_hook\nendpoint show whe_hook --secret --quiet > hook.secret",
		route:   "GET /orgs/{org}/endpoints/{id}",
		do: func(s *session) error {
			if secret {
				return s.ask(&action{route: "GET /orgs/{org}/endpoints/{id}/secret", shows: "secret"}, nil)
			}
			return s.ask(&action{route: "GET /orgs/{org}/endpoints/{id}"}, nil)
		},
	}
	r.add(*show).Flags().BoolVar(&secret, "secret", false, "show the secret, and during a rotation the old one too")
}

func endpointTest(r *resource) {
	r.add(action{
		use: "test ENDPOINT", short: "Send a test event to an endpoint",
		long: `Test sends the event webhook.test to the endpoint, whatever events it selects,
and prints the delivery. With --type it sends the example of another event type, which
says "test":true beside its type. See how it went with: teamdata delivery show ID`,
		example: "endpoint test whe_hook\nendpoint test whe_hook --type member.added\ndelivery show $(teamdata endpoint test whe_hook --quiet)",
		route:   "POST /orgs/{org}/endpoints/{id}/test", fields: []string{"type"},
	}).Flags().String("type", "", "the event `type`; see: teamdata event-type list")
}

func endpointRotate(r *resource) {
	var overlap time.Duration
	var secretFile string
	f := r.add(action{
		use: "rotate ENDPOINT", short: "Give an endpoint a new secret",
		long: `Rotate gives an endpoint a new secret and prints it. With --overlap the old one
signs beside it for that time, so that receivers don't miss an event.`,
		example: "endpoint rotate whe_hook --overlap 24h\nendpoint rotate whe_hook --yes --secret-file hook.secret",
		route:   "POST /orgs/{org}/endpoints/{id}/rotate",
		addTo: func(s *session, body object) error {
			body["overlapSeconds"] = int64(overlap / time.Second)
			return s.addSecret(body, secretFile)
		},
		confirm:  "This replaces the secret of {id} at once: receivers refuse events until they have the new one, unless --overlap gives them time",
		harmless: "overlap",
		shows:    "secret", secret: true, done: "receivers need the new secret now; see it again with: teamdata endpoint show {id} --secret",
	}).Flags()
	f.DurationVar(&overlap, "overlap", 0, "how long the old secret signs too, at most 168h")
	bindSecretFile(f, &secretFile)
}

func endpointRecover(r *resource) {
	f := r.add(action{
		use: "recover ENDPOINT --since TIME", short: "Send again all that failed since a time",
		long: `Recover makes each delivery due now that has failed, or that waits after a failed
attempt. Receivers know by the webhook-id which events they have already.`,
		example: "endpoint recover whe_hook --since 24h\nendpoint recover whe_hook --since 2026-11-21T12:00:00Z",
		route:   "POST /orgs/{org}/endpoints/{id}/recover", fields: []string{"since"}, shows: "recovered",
	}).Flags()
	f.Var(&timeFlag{sign: -1}, "since", "the `time`, such as 2026-11-21T12:00:00Z, or how long ago, such as 24h")
	require(f, "since")
}

const eventsHelp = `EVENTS are names of event types, groups such as 'member.*' for all that begin with
member., or '*' for all. Groups and '*' also select types that are created later. Quote
a *, or the shell may put the names of files in its place.`

var endpointFlags = []string{"url", "events", "description"}

func bindEndpoint(f *pflag.FlagSet) {
	f.String("url", "", "the https:// `URL` that events are posted to")
	f.StringSlice("events", nil, "the `events` that it receives: types, groups such as 'member.*', or '*' for all; see: teamdata event-type list")
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
