package operator

import (
	"bytes"
	"encoding/json"

	"github.com/spf13/cobra"

	"teamdata/internal/terminal"
)

func deliveryCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "delivery", "Inspect and replay the deliveries of events")
	r.add(action{
		use: "list", short: "List the deliveries, those of the latest attempts first",
		long: `Shows the deliveries that match all given flags. Those with the latest attempts
come first; a delivery without an attempt is placed by the time when it was
queued.

` + statesHelp,
		example: "delivery list --endpoint whe_hook\ndelivery list --state failed --since 24h --limit 20\ndelivery list --type 'invoice.*' --status 5xx\ndelivery list --query evt_01JD",
		op:      listDeliveries,
		columns: columns{"DELIVERY", "id", "STATE", "state", "EVENT", "eventType", "STATUS", "lastStatus", "ATTEMPTS", "attempts", "LAST", "lastAttemptAt", "DUE", "dueAt", "LEASE ENDS", "lease.endsAt", "ENDPOINT", "endpointId"},
		none:    "no such deliveries; send one with: teamdata endpoint test ENDPOINT",
	})
	r.add(action{use: "show DELIVERY", short: "Show a delivery with its attempts and its body", example: "delivery show whd_01JD", op: readDelivery, print: (*session).showDelivery})
	r.add(action{
		use: "replay DELIVERY", short: "Replay a delivery",
		long: `Makes a delivery due now, with the same webhook-id and a new series of
attempts. Receivers recognize by the webhook-id the events that they already
have. To replay many deliveries, see: teamdata replay create`,
		example: "delivery replay whd_01JD",
		op:      replayDelivery,
	})
	return r.Command
}

const statesHelp = `A delivery is pending before its first attempt, retrying until the next one,
held while its endpoint is disabled, leased to the consumer that pulled it,
failed after the last attempt, or acknowledged. As a --state, waiting is any of
the first three, and unsuccessful is failed, or waiting for a retry.`

var attemptColumns = columns{"STARTED", "startedAt", "MS", "tookMs", "STATUS", "status", "KEY", "keyId", "NEXT", "nextAt", "REASON", "reason", "ANSWER", "answer"}

// showDelivery prints a delivery, its attempts as a table, and what is sent.
func (s *session) showDelivery(answer json.RawMessage) error {
	if s.quiet {
		return s.show(answer, "")
	}
	var stored struct {
		History []json.RawMessage
		Body    json.RawMessage
	}
	var r record
	if json.Unmarshal(answer, &stored) != nil || json.Unmarshal(answer, &r) != nil {
		return errForm
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
	return attemptColumns.printer(s.out, toSecond)(history)
}
