package main

import (
	"context"
	"net"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// lookLimit is how long the doctor's calls to one server may take.
const lookLimit = 15 * time.Second

// doctor looks at what serve would run with.
type doctor struct {
	settings
	findings
	flags    *pflag.FlagSet // of serve, set
	online   bool           // calls to other servers are asked for
	served   bool           // a server has the data file open
	sound    bool           // the data file was read, and is
	now      func() time.Time
	resolver *net.Resolver
}

// look is one of the doctor's.
type look struct {
	name string
	at   func(*doctor, context.Context)
}

// looks are the doctor's, in their order: later ones know whether a server runs.
func looks() []look {
	return []look{
		{"settings", (*doctor).lookAtSettings},
		{"server", (*doctor).lookAtServer},
		{"data file", (*doctor).lookAtData},
		{"contents", (*doctor).lookAtContents},
		{"seal key", (*doctor).lookAtSealKey},
		{"disk", (*doctor).lookAtDisk},
		{"clock", (*doctor).lookAtClock},
		{"listen", (*doctor).lookAtListeners},
		{"proxies", (*doctor).lookAtProxies},
		{"endpoints", (*doctor).lookAtEndpoints},
		{"certificate", (*doctor).lookAtCertificate},
		{"CA files", (*doctor).lookAtAuthorities},
		{"domains", (*doctor).lookAtDomains},
		{"ACME", (*doctor).lookAtACME},
		{"mail", (*doctor).lookAtMail},
		{"backups", (*doctor).lookAtBackups},
	}
}

func doctorCommand() *cobra.Command {
	d := doctor{now: time.Now, resolver: net.DefaultResolver}
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what would keep serve from working well",
		Long: `Doctor looks at what serve would run with: the data file and its disk, the
server that runs, the clock, listeners, certificates, proxies, mail and backups.
It takes the flags and the environment of serve, changes nothing, and prints a
line for each thing that it looked at, with how to mend what is wrong. It exits
with 1 when there is a problem, and with 0 when there are only warnings.

It asks the system's DNS for each --domain, and calls no other server without
--online. It reads the whole data file when no server has it open.`,
		Example: "  teamdata doctor\n  teamdata doctor --data /var/lib/teamdata/teamdata.db --listen 0.0.0.0:8443\n  teamdata doctor --online --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			d.flags = cmd.Flags()
			d.lookAtAll(cmd.Context())
			if err := d.print(cmd.OutOrStdout(), asJSON); err != nil {
				return err
			}
			return d.verdict()
		},
	}
	d.bind(cmd)
	cmd.Flags().BoolVar(&d.online, "online", false, "call the ACME authority and the mail server too, without an order or a mail")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (d *doctor) lookAtAll(ctx context.Context) {
	for _, l := range looks() {
		d.looked = l.name
		func() {
			ctx, cancel := context.WithTimeout(ctx, lookLimit)
			defer cancel()
			l.at(d, ctx)
		}()
	}
}

// lookAtSettings tells what serve would refuse or overlook.
func (d *doctor) lookAtSettings(context.Context) {
	refused, unknown := d.settings.faults(), unknownNames()
	for _, err := range refused {
		d.refused(err)
	}
	for _, err := range unknown {
		d.warned(err)
	}
	if len(refused)+len(unknown) == 0 {
		d.ok("in order")
	}
}
