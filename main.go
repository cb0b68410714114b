// Teamdata serves a team's data over HTTPS, and sends it signed webhooks, from
// one file.
//
// This package is the command line: a file for each command, which turns flags and
// the environment into settings. What the commands do is in the packages below:
// appliance is what serve runs, of which server answers the API, delivery sends the
// webhooks, store holds the rules and store/boltstore the data; cli/operator has the
// commands that change data; datafile and doctor are for those who look after it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"teamdata/cli/operator"
)

// gcPercent trades memory, of which an appliance needs little, for fewer
// collections. GOGC in the environment wins.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop() // a second signal ends the program at once
	}()
	os.Exit(execute(ctx, command()))
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "teamdata",
		Short: "A team's data over HTTPS, and signed webhooks, from one file",
		Long: `teamdata serves a team's data over HTTPS and sends it signed webhooks, from
one binary on one file. Look around first with:

  teamdata serve --demo

Every flag --a-b can also be set in the environment as TEAMDATA_A_B; the flag
wins.`,
		SilenceErrors:     true,
		SilenceUsage:      true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error { return fromEnvironment(cmd.Flags()) },
	}
	addGroup(root, "Serve, and change data:", append([]*cobra.Command{serveCommand(), doctorCommand(), configCommand(), healthcheckCommand()}, operator.Commands(cliConfig())...)...)
	addGroup(root, "The data file as a whole:", backupCommand(), restoreCommand(), checkCommand(), compactCommand(),
		exportCommand(), importCommand())
	addGroup(root, forDevelopers, listenCommand(), benchCommand(), manCommand(), versionCommand())
	operator.OnlyBelow(root)
	root.SetCompletionCommandGroupID(forDevelopers)
	root.SetHelpCommandGroupID(forDevelopers)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w; see: %s --help", err, cmd.CommandPath())
	})
	return root
}

const forDevelopers = "For developers:"

// addGroup adds commands that the help shows together.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
	}
	root.AddCommand(commands...)
}
