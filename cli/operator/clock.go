package operator

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	teamdata "teamdata/client"
	"teamdata/client/admin/api"
	"teamdata/internal/hint"
)

func clockCommand(e *env) *cobra.Command {
	r := newResource(e, "clock", "Show and advance the clock of a test server")
	r.add(action{use: "show", short: "Show what the clock reads", example: "clock show\nclock show --quiet", op: readClock, shows: "now"}.forTests())
	r.add(action{
		use: "advance TIME", short: "Move the clock forward, and send what becomes due",
		long: `Moves the clock of a server that was started with --test-clock forward, from
one due time to the next. Attempts, retries and mail follow one another as if
the time had passed. The command ends when everything that became due has been
sent. With 0s the clock stays where it is, and the command waits for what is
due now.`,
		example: "clock advance 14h\nclock advance 1h30m\nclock advance 0s",
		args:    oneTime,
		op:      advanceClock.without("advanceSeconds"), shows: "now",
		addTo: func(s *session, body object) error {
			body["advanceSeconds"], _ = wholeSeconds(s.args[0])
			return nil
		},
	}.forTests())
	return r.Command
}

// now is what the server's clock reads: that of a server for tests is its own, and any
// other has that of the machine.
func (s *session) now() (time.Time, error) {
	var clock api.Clock
	_, err := s.read(readClock, nil, &clock)
	if refusedWith(err, teamdata.CodeNotFound) {
		return time.Now(), nil
	}
	return clock.Now, err
}

// oneTime takes one argument, how far a clock is to move.
func oneTime(cmd *cobra.Command, args []string) error {
	if err := one(cmd, args); err != nil {
		return err
	}
	if _, ok := wholeSeconds(args[0]); !ok {
		return SeeHelp(cmd, fmt.Errorf("%q is not a time in whole seconds, such as 13h, 90m or 1h30m", args[0]))
	}
	return nil
}

// wholeSeconds is a time such as 13h in seconds.
func wholeSeconds(text string) (seconds int64, ok bool) {
	d, err := time.ParseDuration(text)
	return int64(d / time.Second), err == nil && d >= 0 && d%time.Second == 0
}

func resetCommand(e *env) *cobra.Command {
	return e.single(action{
		use: "reset", short: "Delete the data of a test server, and read its seed again",
		long: `Deletes all data of a server that was started with --test-clock, and then reads
its --seed again. The clock stays where it is.`,
		example: "reset --yes",
		op:      resetData, shows: "now",
		confirm: "This deletes all data of the server",
		done:    "the data is what it was at the start",
	}.forTests(), idList{})
}

// forTests is the action with an error of its own for a server that is not for tests,
// and so doesn't have it.
func (a action) forTests() action {
	plain := a
	a.do = func(s *session) error {
		err := plain.run(s)
		if refusedWith(err, teamdata.CodeNotFound) {
			return hint.New("the server is not for tests: it has no clock of its own", "start it with: teamdata serve --test-clock")
		}
		return err
	}
	return a
}
