package operator

import "github.com/spf13/cobra"

func eventCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "event", "Send events", idList{})
	var file string
	f := r.add(action{
		use: "send --type TYPE --data-file FILE", short: "Send an event to the endpoints that select it",
		long: `Send sends an event of a built-in type or of one of your own, and prints the ids
of its deliveries. Its data is one JSON object.`,
		example: "event send --type invoice.paid --data-file invoice.json\nevent send --type invoice.paid --data-file - < invoice.json",
		route:   "POST /orgs/{org}/events",
		do: func(s *session) error {
			data, err := readJSON(s.cmd, "data-file", file)
			if err != nil {
				return err
			}
			body := given(s.cmd.Flags(), "type")
			body["data"] = data
			return s.send(body)
		},
	}).Flags()
	f.String("type", "", "the `type` of the event, see: teamdata event-type list")
	f.StringVar(&file, "data-file", "", "a `file` with its data; - is the standard input")
	require(f, "type", "data-file")
	return r.Command
}

// send sends an event, and prints its deliveries.
func (s *session) send(body object) error {
	var answered struct{ Deliveries []string }
	a, err := s.read("POST /orgs/{org}/events", body, &answered)
	if err != nil {
		return err
	}
	if s.json {
		return s.out.json(a.body)
	}
	if len(answered.Deliveries) == 0 {
		s.note("no endpoint selects %s, or the plan has no webhooks: it is sent nowhere", body["type"])
	}
	return s.out.ids(answered.Deliveries)
}
