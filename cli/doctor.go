package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/cli/doctor"
)

func doctorCommand() *cobra.Command {
	c := doctor.Config{Flags: pflag.NewFlagSet("serve", pflag.ContinueOnError)}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check for what would keep serve from working well",
		Long: `Doctor checks what serve would run with: the data file and its disk, the
server that runs, the clock, listeners, certificates, proxies, mail and backups.
It takes the flags and the environment of serve, changes nothing, and prints a
line for each thing that it checked, with how to fix what is wrong. It exits
with 1 when there is a problem, and with 0 when there are only warnings.

It asks the system's DNS for each --domain, and calls no other server without
--online. It reads the whole data file when no server has it open.`,
		Example: "  teamdata doctor\n  teamdata doctor --data /var/lib/teamdata/teamdata.db --listen 0.0.0.0:8443\n  teamdata doctor --online --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Unknown, c.Version = unknownNames(), cmd.Root().Version
			found := doctor.Check(cmd.Context(), c)
			if err := found.Print(cmd.OutOrStdout(), asJSON); err != nil {
				return err
			}
			return found.Verdict()
		},
	}
	bindSettings(c.Flags, &c.Settings)
	cmd.Flags().AddFlagSet(c.Flags)
	cmd.Flags().BoolVar(&c.Online, "online", false, "call the ACME authority and the mail server too, without an order or a mail")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func healthcheckCommand() *cobra.Command {
	var p doctor.Probe
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "healthcheck",
		Short: "Check whether a running server is ready",
		Long: `Healthcheck asks the server whether it is ready: over the admin socket beside the
data file, or from elsewhere with --url. It prints one line. Its exit status is 0
if the server is ready, and 1 if it is not or doesn't answer. It takes the
environment of serve and needs no shell, so a container can use it as its health
check.`,
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
	f.StringVar(&p.StateDir, "state-dir", "", "the `folder` of the socket of a server on a database; default: the working directory")
	f.StringVar(&p.Socket, "socket", "", "the admin `socket` of the server; default: the data file's path with .sock behind it, or teamdata.sock in --state-dir")
	f.StringVar(&p.URL, "url", "", "the `URL` of the server, to ask it there and not on the socket")
	f.StringVar(&p.CAFile, "ca-file", "", "a PEM `file` with the CA of --url, to trust beside the system's")
	f.DurationVar(&timeout, "timeout", 5*time.Second, "how long the answer may take")
	return cmd
}
