package operator

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"teamdata/client/admin/api"
)

func eventCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "event", "Send events")
	var file string
	f := r.add(action{
		use: "send --type TYPE --data-file FILE", short: "Send an event to the endpoints that select it",
		long: `Send sends an event of a built-in type or of one of your own, and prints the ids
of its deliveries. Its data is one JSON object. The types are those of: teamdata
event-type list`,
		example: "event send --type invoice.paid --data-file invoice.json\nevent send --type invoice.paid --data-file - < invoice.json",
		op:      sendEvent,
		addTo: func(s *session, body object) (err error) {
			body["data"], err = readJSON(s.cmd, "data-file", file)
			return err
		},
		print: (*session).showSent,
	}).Flags()
	f.StringVar(&file, "data-file", "", "a `file` with its data; - is the standard input")
	require(f, "data-file")
	return r.Command
}

// showSent prints the deliveries of an event that was sent.
func (s *session) showSent(answer json.RawMessage) error {
	var sent api.Deliveries
	switch {
	case json.Unmarshal(answer, &sent) != nil:
		return errForm
	case len(sent.Deliveries) == 0:
		s.note("no endpoint selects %s, or the plan has no webhooks: it is sent nowhere", s.cmd.Flag("type").Value)
	}
	return s.out.ids(sent.Deliveries)
}
