package cli

import (
	"context"
	"io"
	"log"
	"os"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

func serveCommand() *cobra.Command {
	var s app.Settings
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the server",
		Long: `Runs the server: the API over HTTPS, the settings page, and webhooks. Without
flags it keeps its data in ./teamdata.db and listens on this machine only.`,
		Annotations: map[string]string{staysOnHangup: "", notes: `
It makes its certificate unless it is given one; the CA to trust is beside the
data. Ctrl-C or SIGTERM stops it. SIGHUP makes it read its certificates again,
or stops it if it was started on a terminal. It exits with 2 if a setting is
wrong, and with 1 on any other error, such as a database that is down.`},
		Example: `  teamdata serve --demo                                    # to look around
  teamdata serve --data /var/lib/teamdata/teamdata.db --listen 0.0.0.0:8443
  teamdata serve --listen :443 --domain data.example.com --acme-accept-terms
  teamdata serve --listen 127.0.0.1:8080 --http            # behind a proxy`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			s.Version = cmd.Root().Version
			if err := s.Check(); err != nil {
				return err
			}
			if s.Demo {
				return serveDemo(cmd.Context(), s, cmd.OutOrStdout(), newLog(zerolog.WarnLevel))
			}
			return serve(cmd.Context(), s, newLog(zerolog.InfoLevel))
		},
	}
	bindSettings(cmd.Flags(), &s)
	return cmd
}

// serve runs the server until ctx is done.
func serve(ctx context.Context, s app.Settings, log zerolog.Logger) error {
	for _, fault := range unknownNames() {
		log.Warn().Fields(hint.Fields(fault)).Msg("a setting is ignored")
	}
	a, err := app.Start(ctx, s, log)
	switch {
	case err != nil && ctx.Err() != nil: // stopped before it served
		return nil
	case err != nil:
		return err
	}
	a.Announce()
	return a.Run(ctx)
}

// newLog writes text for people on a terminal and JSON for everything else, to
// stderr.
func newLog(level zerolog.Level) zerolog.Logger {
	// net/http writes receivers' protocol violations to the standard log, in
	// bytes that they choose. What matters is kept with the attempt.
	log.SetOutput(io.Discard)
	var out io.Writer = os.Stderr
	if terminal.Is(os.Stderr) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}
