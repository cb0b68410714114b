package operator

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/spf13/cobra"
)

func eventCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "event", "Events of your own")
	var file string
	f := n.add(verb{
		use: "send --type TYPE --data-file FILE", short: "Send an event to the endpoints that select it", args: cobra.NoArgs,
		long: `Send sends an event of a built-in type, or of one of your own, and prints the ids
of its deliveries. Its data is one JSON object.`,
		example: "event send --type invoice.paid --data-file invoice.json\nevent send --type invoice.paid --data-file - < invoice.json",
		run: func(s *session, _ []string) error {
			data, err := readJSON(s.cmd, "data-file", file)
			if err != nil {
				return err
			}
			body := given(s.cmd.Flags(), "type")
			body["data"] = data
			return s.send(body)
		},
	})
	f.String("type", "", "its `type`, see: teamdata event-type list")
	f.StringVar(&file, "data-file", "", "a `file` with its data; - is the standard input")
	require(f, "type", "data-file")
	return n.Command
}

// send sends an event, and prints its deliveries.
func (s *session) send(body object) error {
	a, err := s.do(http.MethodPost, s.path("events"), body, nil)
	if err != nil {
		return err
	}
	if s.json {
		return s.out.json(a.body)
	}
	var answered struct{ Deliveries []string }
	if err := json.Unmarshal(a.body, &answered); err != nil {
		return errForm(err)
	}
	for _, id := range answered.Deliveries {
		if err := s.out.line(plain(id)); err != nil {
			return err
		}
	}
	if len(answered.Deliveries) == 0 {
		s.note("no endpoint selects %s, or the plan has no webhooks: it is sent to nobody", body["type"])
	}
	return nil
}

// readJSON reads a file that holds one JSON value.
func readJSON(cmd *cobra.Command, flag, path string) (json.RawMessage, error) {
	text, err := readInput(cmd, flag, path)
	if err != nil {
		return nil, err
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("--%s: %s does not hold JSON, or more than one value", flag, nameOf(path))
	}
	return text, nil
}
