package cli

import (
	"io"
	"log"
	"os"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/terminal"
)

// newLog writes text for people on a terminal and JSON for everything else, to
// stderr.
func newLog(level zerolog.Level) zerolog.Logger {
	// net/http tells the standard log what receivers do out of turn, in bytes that
	// they choose. What matters of it is kept with the attempt.
	log.SetOutput(io.Discard)
	var out io.Writer = os.Stderr
	if terminal.Is(os.Stderr) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}
