package cli

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c.Unknown = unknownNames()
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
