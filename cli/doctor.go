package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/cli/doctor"
	"teamdata/internal/terminal"
)

func doctorCommand() *cobra.Command {
	c := doctor.Config{Flags: pflag.NewFlagSet("serve", pflag.ContinueOnError)}
	var environment configuration
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check everything that the server depends on",
		Long: `Checks everything that serve would run with: the settings, as config check
does, the data file and its disk, the running server, the clock, listeners,
certificates, proxies, mail and backups. It takes the flags and the environment
of serve, and changes nothing. It prints a line for each check, with the fix
for each problem. It exits with 1 if there is a problem, and with 0 if there
are only warnings.

It asks the system's DNS for each --domain, and calls other servers only with
--online. It reads the whole data file unless a server has it open.`,
		Example: "  teamdata doctor\n  teamdata doctor --data /var/lib/teamdata/teamdata.db --listen 0.0.0.0:8443\n  teamdata doctor --online --json",
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error { // a fault there is one finding of many
			if err := environment.read(cmd.Flags()); err != nil {
				return err
			}
			return checkValues(cmd, args)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Unknown, c.Malformed, c.Version = unknownNames(), environment.faults, cmd.Root().Version
			c.People = !asJSON && terminal.Width(cmd.OutOrStdout()) > 0
			found := doctor.Check(cmd.Context(), c)
			if err := found.Print(cmd.OutOrStdout(), asJSON); err != nil {
				return err
			}
			return found.Verdict()
		},
	}
	bindSettings(c.Flags, &c.Settings)
	cmd.Flags().AddFlagSet(c.Flags)
	cmd.Flags().BoolVar(&c.Online, "online", false, "also call the ACME authority and the mail server, without ordering or sending anything")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func healthcheckCommand() *cobra.Command {
	var p doctor.Probe
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Check whether a running server is ready",
		Long: `Asks a running server whether it is ready, over the admin socket beside the
data file or, with --url, over the network. It prints one line, and exits with
0 if the server is ready, and with 1 if it isn't or doesn't answer. It takes
the environment of serve and needs no shell, so a container can use it as its
health check.`,
		Example: "  teamdata healthcheck\n  teamdata healthcheck --data /var/lib/teamdata/teamdata.db\n" +
			"  teamdata healthcheck --url https://127.0.0.1:8443 --ca-file teamdata.db.ca.pem",
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), timeout)
			defer cancel()
			p.Version = cmd.Root().Version
			if err := p.Ready(ctx); err != nil {
				return err
			}
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "ready")
			return err
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.Data, "data", app.DefaultData, "the data `file` of the server, or postgres://… for a PostgreSQL database")
	f.StringVar(&p.StateDir, "state-dir", "", "the `folder` with the socket of a server on a database; default: the working directory")
	f.StringVar(&p.Socket, "socket", "", "the admin `socket` of the server; default: the data file's path followed by .sock, or teamdata.sock in --state-dir")
	f.StringVar(&p.URL, "url", "", "the `URL` of the server, to ask there instead of on the socket")
	f.StringVar(&p.CAFile, "ca-file", "", "a PEM `file` with a CA to trust for --url, in addition to the system's")
	f.DurationVar(&timeout, "timeout", 5*time.Second, "how long the answer may take")
	return cmd
}
