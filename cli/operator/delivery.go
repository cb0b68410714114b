package operator

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

func deliveryCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "delivery", "Inspect and replay the deliveries of events", idList{"/orgs/{org}/deliveries", "id"})
	deliveryList(r)
	r.add(action{
		use: "show DELIVERY", short: "Show a delivery with its attempts and its body",
		example: "delivery show whd_01JD",
		route:   "GET /orgs/{org}/deliveries/{id}",
		do:      (*session).showDelivery,
	})
	deliveryReplay(r)
	return r.Command
}

func deliveryList(r *resource) {
	list := &action{
		use: "list", short: "List the deliveries, those of the latest attempts first",
		long:    "List lists the deliveries that all given flags select, newest first by the end of\ntheir last attempt, or when they were queued before the first.\n\n" + statesHelp,
		example: "delivery list --endpoint whe_hook\ndelivery list --state failed --since 24h --limit 20\ndelivery list --type 'invoice.*' --status 5xx\ndelivery list --query evt_01JD",
		route:   "GET /orgs/{org}/deliveries",
		columns: columns{"DELIVERY", "id", "EVENT", "eventType", "STATE", "state", "ATTEMPTS", "attempts", "LAST", "lastAttemptAt", "STATUS", "lastStatus", "DUE", "dueAt", "ENDPOINT", "endpointId"},
		none:    "no such deliveries; send one with: teamdata endpoint test ENDPOINT",
	}
	list.do = func(s *session) error {
		filter, err := s.filter(given(s.cmd.Flags(), filterFlags...))
		if err != nil {
			return err
		}
		query := url.Values{}
		for name, value := range filter {
			query.Set(name, fmt.Sprint(value))
		}
		return s.list(list, query)
	}
	bindFilter(r.add(*list).Flags())
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
