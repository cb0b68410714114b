package operator

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"teamdata/client/admin/api"
	"teamdata/internal/hint"
)

func eventCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "event", "Send events")
	r.ids = idList{listEventTypes, "name"}
	var file string
	cmd := r.add(action{
		use: "send TYPE JSON | --file FILE", short: "Send an event to the endpoints that select it",
		long: `Sends an event of a built-in type or of one of your own, and prints the ids of
its deliveries. Its data is one JSON object, as an argument or in a file. To see
the types: teamdata event-type list`,
		example: `event send invoice.paid '{"amount": 12}'` + "\nevent send invoice.paid --file invoice.json\nevent send invoice.paid --file - < invoice.json",
		args:    typeAndData,
		op:      sendEvent, argument: "type",
		addTo: func(s *session, body object) (err error) {
			if file == "" {
				body["data"] = json.RawMessage(s.args[1])
				return nil
			}
			body["data"], err = readJSON(s.cmd, "file", file)
			return err
		},
		print: (*session).showSent,
	})
	cmd.Flags().StringVar(&file, "file", "", "a `file` with the data; - is the standard input")
	cmd.PreRunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case (len(args) == 2) == (file != ""):
			return SeeHelp(cmd, errors.New("give the data as JSON after the type, or in a file with --file"))
		case len(args) == 2 && !json.Valid([]byte(args[1])):
			return hint.New("the data is not JSON", `put it in single quotes, such as '{"amount": 12}'`)
		}
		return nil
	}
	return r.Command
}

func typeAndData(cmd *cobra.Command, args []string) error {
	if len(args) < 1 || len(args) > 2 {
		return SeeHelp(cmd, errors.New("takes the type of the event and its data, as in: "+cmd.UseLine()))
	}
	return nil
}

// showSent prints the deliveries of an event that was sent.
func (s *session) showSent(answer json.RawMessage) error {
	var sent api.Deliveries
	switch {
	case json.Unmarshal(answer, &sent) != nil:
		return errForm
	case len(sent.Deliveries) == 0:
		s.note("no endpoint selects %s, or the plan has no webhooks: nothing is sent", s.args[0])
	}
	return s.out.ids(sent.Deliveries)
}
