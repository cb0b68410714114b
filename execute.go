package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/cli/operator"
	"teamdata/internal/terminal"
)

// What the program ends with when something is wrong.
const (
	exitFailed = 1 // the work
	exitUsage  = 2 // the command line: nothing was begun
)

// execute runs the command line, tells what is wrong, and returns what to end
// with.
func execute(ctx context.Context, root *cobra.Command) int {
	begun := false
	eachCommand(root, func(cmd *cobra.Command) {
		if work := cmd.RunE; work != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				begun = true
				return work(cmd, args)
			}
		}
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	fmt.Fprintf(os.Stderr, "teamdata: %v\n", err)
	if !begun {
		return exitUsage
	}
	return exitFailed
}

func eachCommand(cmd *cobra.Command, fn func(*cobra.Command)) {
	fn(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, fn)
	}
}

// cliConfig is what the operator's commands need.
func cliConfig() operator.Config {
	return operator.Config{Version: version(), DefaultData: app.DefaultData, Connect: connectAdmin, Confirm: terminal.Confirm, Width: terminal.Width}
}
