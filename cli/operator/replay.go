package operator

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/client/admin/api"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

func replayCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "replay", "Watch and cancel replays of many deliveries")
	r.add(action{
		use: "list", short: "List the replays, latest first",
		long:    "List lists the replays that run, and those of the last 7 days. Start one with:\nteamdata delivery replay --filter FIELD=VALUE",
		example: "replay list",
		op:      listReplays,
		columns: columns{"REPLAY", "id", "STATE", "state", "DONE", "done", "TOTAL", "total", "CREATED", "createdAt", "FINISHED", "finishedAt", "ACTOR", "actorId"},
		none:    "no replays yet; start one with: teamdata delivery replay --filter state=failed",
	})
	r.add(action{use: "show REPLAY", short: "Show how far a replay is", example: "replay show rpl_01JD", op: readReplay})
	r.add(action{use: "cancel REPLAY", short: "Cancel a replay: what it has made due stays so", example: "replay cancel rpl_01JD", op: cancelReplay})
	return r.Command
}

// replay is what a command that replays many deliveries is to do.
type replay struct {
	fields []string // of the filter, such as state=failed
	filter object   // of them
	dryRun bool
	noWait bool
}

func deliveryReplay(r *resource) {
	var asked replay
	cmd := r.add(action{
		use: "replay [DELIVERY]", short: "Send a delivery again, or all of a filter, with the same webhook-id",
		long: `Replay makes a delivery due now, with a new series of attempts; or each of those
that --filter selects. Receivers know by the webhook-id which events they have already.

The fields of --filter are those of delivery list: endpoint, state, type, status,
since, until and query. Without a state it is unsuccessful: those that failed, or wait
for a retry. They are counted first; once that is confirmed, they are replayed one after
the other, and the command waits until that is done. It goes on without the command,
also after a restart of the server: see teamdata replay list.`,
		example: "delivery replay whd_01JD\ndelivery replay --filter state=failed,since=1h\ndelivery replay --filter endpoint=whe_hook --filter status=5xx --dry-run\ndelivery replay --filter state=failed --yes --no-wait",
		asks:    func(s *session) (string, error) { return s.countToReplay(&asked) },
		do:      func(s *session) error { return s.replay(&asked) },
	})
	f := cmd.Flags()
	f.StringSliceVar(&asked.fields, "filter", nil, "replay those that all fields select, such as `state=failed,since=24h`")
	f.BoolVar(&asked.dryRun, "dry-run", false, "print how many the filter selects, and do nothing")
	f.BoolVar(&asked.noWait, "no-wait", false, "don't wait until all are replayed")
	cmd.Args = func(cmd *cobra.Command, args []string) (err error) {
		if len(asked.fields) == 0 {
			if asked.dryRun || asked.noWait || len(args) == 0 {
				return SeeHelp(cmd, errors.New("takes a delivery, or --filter with the fields of several"))
			}
			return one(cmd, args)
		}
		if len(args) > 0 {
			return SeeHelp(cmd, errors.New("takes a delivery or --filter, not both"))
		}
		asked.filter, err = parseFilter(asked.fields)
		return err
	}
}

// parseFilter reads the fields of a filter from texts such as state=failed.
func parseFilter(texts []string) (object, error) {
	filter := pflag.NewFlagSet("", pflag.ContinueOnError)
	listDeliveries.bind(filter)
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		f := filter.Lookup(name)
		switch {
		case !ok || value == "":
			return nil, hint.New(fmt.Sprintf("--filter: %.60q is not a field with a value", text), "it is written like state=failed,since=24h")
		case f == nil:
			return nil, hint.New(fmt.Sprintf("--filter: %.40q is not a field of deliveries", name), "there are "+strings.Join(listDeliveries.names(), ", "))
		case f.Changed:
			return nil, fmt.Errorf("--filter: %s is given twice", name)
		}
		if err := f.Value.Set(value); err != nil {
			return nil, fmt.Errorf("--filter: %s: %w", name, err)
		}
		f.Changed = true
	}
	return listDeliveries.fieldsSet(filter), nil
}

// countToReplay says what a replay is about to do.
func (s *session) countToReplay(r *replay) (string, error) {
	if r.filter == nil || r.dryRun {
		return "", nil
	}
	if err := s.resolveTimes(r.filter); err != nil { // from here on it is of one moment
		return "", err
	}
	var found api.ReplayPreview
	if _, err := s.read(createReplay, object{"filter": r.filter, "dryRun": true}, &found); err != nil || found.Total == 0 {
		return "", err
	}
	what := terminal.Count(found.Total, "delivery")
	if found.More {
		what = "more than " + what
	}
	return fmt.Sprintf("This sends %s again, to %s", what, terminal.Count(len(found.Endpoints), "endpoint")), nil
}

// replay replays what a command asks for: one delivery, or those of a filter.
func (s *session) replay(r *replay) error {
	if r.filter == nil {
		return s.ask(&action{op: replayDelivery}, nil)
	}
	if err := s.resolveTimes(r.filter); err != nil {
		return err
	}
	if r.dryRun {
		return s.ask(&action{op: createReplay, shows: "total"}, object{"filter": r.filter, "dryRun": true})
	}
	var job api.Replay
	answer, err := s.read(createReplay, object{"filter": r.filter}, &job)
	if err == nil && !r.noWait {
		answer, err = s.untilReplayed(job.ID)
	}
	if err != nil {
		return err
	}
	return s.show(answer, "")
}

// Between checks how far a replay is, the pause grows to the longer one.
const (
	firstReplayPause = 20 * time.Millisecond
	lastReplayPause  = time.Second
)

// untilReplayed waits until a replay is over, and shows how far it is.
func (s *session) untilReplayed(id string) (json.RawMessage, error) {
	s.args = []string{id}
	progress := terminal.StartProgress(s.cmd.ErrOrStderr(), "replaying deliveries")
	defer progress.Stop()
	for pause := firstReplayPause; ; pause = min(2*pause, lastReplayPause) {
		var job api.Replay
		answer, err := s.read(readReplay, nil, &job)
		if err != nil || job.State != api.ReplayStateRunning {
			return answer, err
		}
		progress.Describe(fmt.Sprintf("%d of %s", job.Done, terminal.Count(job.Total, "delivery")))
		select {
		case <-s.cmd.Context().Done():
			return nil, hint.With(context.Cause(s.cmd.Context()), "the replay is not cancelled by that; do it with: teamdata replay cancel "+id)
		case <-time.After(pause):
		}
	}
}
