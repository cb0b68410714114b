package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"teamdata/client/admin/api"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

func replayCommand(e *env) *cobra.Command {
	r := newOrgResource(e, "replay", "Replay many deliveries, and watch or cancel a replay")
	replayCreate(r)
	r.add(action{
		use: "list", short: "List the replays, latest first",
		long:    `Shows the replays that are running, and those of the last 7 days.`,
		example: "replay list",
		op:      listReplays,
		columns: columns{"REPLAY", "id", "STATE", "state", "DONE", "done", "TOTAL", "total", "CREATED", "createdAt", "FINISHED", "finishedAt", "ACTOR", "actorId"},
		none:    "no replays yet; start one with: teamdata replay create --state failed",
	})
	r.add(action{use: "show REPLAY", short: "Show how far a replay is", example: "replay show rpl_01JD", op: readReplay})
	r.add(action{use: "cancel REPLAY", short: "Cancel a replay: deliveries already queued again are still sent", example: "replay cancel rpl_01JD", op: cancelReplay})
	return r.Command
}

// newReplay is a replay that a command creates.
type newReplay struct {
	filter         object // as of when it was counted; nil: it was not
	dryRun, noWait bool
}

func replayCreate(r *resource) {
	var n newReplay
	cmd := r.add(action{
		use: "create", short: "Replay all deliveries that a filter selects",
		long: `Replays the deliveries that match all given flags, each with its webhook-id, by
which receivers recognize the events that they already have. Without --state it
selects those that are unsuccessful: failed, or waiting for a retry.

The command counts them first, and asks you to confirm. Then it waits until all
are replayed. The server goes on without the command, even after a restart.

` + statesHelp,
		example: "replay create --endpoint whe_hook --since 24h\nreplay create --state failed --status 5xx --dry-run\nreplay create --query evt_01JD --yes --no-wait",
		op:      createReplay.without("deliveryIds", "dryRun"),
		asks:    n.count,
		do:      n.create,
	})
	cmd.SuggestFor = []string{"endpoint recover", "endpoint replay"}
	f := cmd.Flags()
	listDeliveries.bind(f)
	cmd.MarkFlagsOneRequired(listDeliveries.names()...)
	f.BoolVar(&n.dryRun, "dry-run", false, "only print how many are selected")
	f.BoolVar(&n.noWait, "no-wait", false, "don't wait until all are replayed")
}

// count says what the replay is about to do.
func (n *newReplay) count(s *session) (what string, err error) {
	if n.filter, err = s.filter(listDeliveries); err != nil || n.dryRun {
		return "", err
	}
	var found api.ReplayPreview
	if _, err := s.read(createReplay, object{"filter": n.filter, "dryRun": true}, &found); err != nil || found.Total == 0 {
		return "", err
	}
	what = terminal.Count(found.Total, "delivery")
	if found.More {
		what = "more than " + what
	}
	return fmt.Sprintf("This replays %s to %s", what, terminal.Count(len(found.Endpoints), "endpoint")), nil
}

func (n *newReplay) create(s *session) (err error) {
	if n.filter == nil {
		if n.filter, err = s.filter(listDeliveries); err != nil {
			return err
		}
	}
	if n.dryRun {
		return s.ask(&action{op: createReplay, shows: "total"}, object{"filter": n.filter, "dryRun": true})
	}
	var job api.Replay
	answer, err := s.read(createReplay, object{"filter": n.filter}, &job)
	if err == nil && !n.noWait {
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
			return nil, hint.With(context.Cause(s.cmd.Context()), "the replay goes on; to cancel it: teamdata replay cancel "+id)
		case <-time.After(pause):
		}
	}
}
