package operator

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/spf13/cobra"
)

func deliveryCommand(k *kit) *cobra.Command {
	n := newOrgNoun(k, "delivery", "Events on their way to endpoints")
	deliveryList(n)
	n.add(verb{
		use: "show DELIVERY", short: "Show a delivery with its attempts and its body", args: one,
		example: "delivery show whd_01JD",
		run: func(s *session, args []string) error {
			a, err := s.do(http.MethodGet, s.path("deliveries", args[0]), nil, nil)
			if err != nil {
				return err
			}
			if s.json || s.quiet {
				return s.show(a, "id")
			}
			return s.showDelivery(a)
		},
	})
	n.add(verb{
		use: "replay DELIVERY", short: "Send a delivery again, with the same webhook-id", args: one,
		example: "delivery replay whd_01JD",
		run: func(s *session, args []string) error {
			return s.ask(http.MethodPost, s.path("deliveries", args[0], "replay"), nil, "id")
		},
	})
	return n.Command
}

func deliveryList(n *noun) {
	var endpoint, state string
	f := n.addList(verb{
		use: "list --endpoint ENDPOINT", short: "List an endpoint's deliveries",
		long:    "List lists deliveries: those that wait by when they are due, then the others,\nlatest first.",
		example: "delivery list --endpoint whe_hook\ndelivery list --endpoint whe_hook --state failed --limit 20",
		run: func(s *session, _ []string) error {
			query := url.Values{}
			if state != "" {
				query.Set("state", state)
			}
			return s.list(s.path("endpoints", endpoint, "deliveries"), query,
				columns{"DELIVERY", "id", "EVENT", "eventType", "STATE", "state", "ATTEMPTS", "attempts", "CREATED", "createdAt", "DUE", "dueAt", "FINISHED", "finishedAt"},
				"no such deliveries; send one with: teamdata endpoint test "+endpoint)
		},
	})
	f.StringVar(&endpoint, "endpoint", "", "the `id` of the endpoint")
	f.StringVar(&state, "state", "", "only those in a `state`: pending, retrying, held, failed or acknowledged")
	require(f, "endpoint")
}

var attemptColumns = columns{"STARTED", "startedAt", "MS", "tookMs", "STATUS", "status", "NEXT", "nextAt", "REASON", "reason", "ANSWER", "answer"}

// showDelivery prints a delivery, its attempts as a table, and what is sent.
func (s *session) showDelivery(a answer) error {
	var r record
	var kept struct {
		History []json.RawMessage
		Body    json.RawMessage
	}
	if err := json.Unmarshal(a.body, &r); err != nil {
		return errForm(err)
	}
	if err := json.Unmarshal(a.body, &kept); err != nil {
		return errForm(err)
	}
	r.take("history")
	r.take("body")
	if err := s.out.lines(r); err != nil {
		return err
	}
	if err := s.showAttempts(kept.History); err != nil {
		return err
	}
	var body bytes.Buffer
	if json.Indent(&body, kept.Body, "", "  ") != nil {
		return nil // it has none
	}
	return s.out.text("\nbody:\n" + escape(body.String(), "\n"))
}

func (s *session) showAttempts(history []json.RawMessage) error {
	if len(history) == 0 {
		return s.out.line("\nno attempts yet")
	}
	if err := s.out.line("\nattempts:"); err != nil {
		return err
	}
	return printRows(&table{out: s.out, titles: attemptColumns.titles()}, history, attemptColumns)
}
