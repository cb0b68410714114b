package operator

import (
	"bytes"
	"encoding/json"
	"net/url"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

func deliveryCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "delivery", "Inspect and replay the deliveries of events", idList{})
	deliveryList(r)
	r.add(action{
		use: "show DELIVERY", short: "Show a delivery with its attempts and its body",
		example: "delivery show whd_01JD",
		route:   "GET /orgs/{org}/deliveries/{id}",
		do:      (*session).showDelivery,
	})
	r.add(action{
		use: "replay DELIVERY", short: "Send a delivery again, with the same webhook-id",
		example: "delivery replay whd_01JD",
		route:   "POST /orgs/{org}/deliveries/{id}/replay",
	})
	return r.Command
}

func deliveryList(r *resource) {
	var endpoint, state string
	list := &action{
		use: "list --endpoint ENDPOINT", short: "List the deliveries of an endpoint",
		long:    "List lists deliveries: first those that wait, by the time they are due, then the\nothers, latest first.",
		example: "delivery list --endpoint whe_hook\ndelivery list --endpoint whe_hook --state failed --limit 20",
		route:   "GET /orgs/{org}/endpoints/{id}/deliveries",
		columns: columns{"DELIVERY", "id", "EVENT", "eventType", "STATE", "state", "ATTEMPTS", "attempts", "CREATED", "createdAt", "DUE", "dueAt", "FINISHED", "finishedAt"},
		none:    "no such deliveries; send one with: teamdata endpoint test {id}",
	}
	list.do = func(s *session) error {
		query := url.Values{}
		if state != "" {
			query.Set("state", state)
		}
		s.args = []string{endpoint}
		return s.list(list, query)
	}
	f := r.add(*list).Flags()
	f.StringVar(&endpoint, "endpoint", "", "the `id` of the endpoint")
	f.StringVar(&state, "state", "", "only those in a `state`: pending, retrying, held, failed or acknowledged")
	require(f, "endpoint")
}

var attemptColumns = columns{"STARTED", "startedAt", "MS", "tookMs", "STATUS", "status", "NEXT", "nextAt", "REASON", "reason", "ANSWER", "answer"}

// showDelivery prints a delivery, its attempts as a table, and what is sent.
func (s *session) showDelivery() error {
	var stored struct {
		History []json.RawMessage
		Body    json.RawMessage
	}
	a, err := s.read("GET /orgs/{org}/deliveries/{id}", nil, &stored)
	if err != nil {
		return err
	}
	if s.json || s.quiet {
		return s.show(a, "")
	}
	var r record
	if err := json.Unmarshal(a.body, &r); err != nil {
		return errForm(err)
	}
	if err := s.out.record(r.without("history", "body")); err != nil {
		return err
	}
	if err := s.showAttempts(stored.History); err != nil {
		return err
	}
	var body bytes.Buffer
	if json.Indent(&body, stored.Body, "", "  ") != nil {
		return nil // it has none
	}
	return s.out.text("\nbody:\n" + terminal.Escape(body.String(), "\n"))
}

func (s *session) showAttempts(history []json.RawMessage) error {
	if len(history) == 0 {
		return s.out.line("\nno attempts yet")
	}
	if err := s.out.line("\nattempts:"); err != nil {
		return err
	}
	return attemptColumns.printer(s.out)(history)
}
