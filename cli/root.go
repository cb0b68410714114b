// Package cli is the command line: its commands turn flags and the environment
// into settings, run the work, and print its outcome. Commands about the same
// thing share a file. The thin clients of the admin API are in operator; listen,
// doctor and bench have their own folders. A new command is a function in its
// file, a line in command and its place in overview; the flags of serve are those of [app.SettingGroups].
//
// It may import app, the packages below it and those in internal; of store and
// the server's parts it uses what their words and defaults are called.
package cli

import (
	"cmp"
	"context"
	"crypto/fips140"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"teamdata/app"
	"teamdata/cli/doctor"
	"teamdata/cli/listen"
	"teamdata/cli/operator"
	"teamdata/internal/hint"
	"teamdata/internal/terminal"
)

// What the program ends with when something is wrong.
const (
	exitFailed = 1 // the work
	exitUsage  = 2 // the command line or a setting: only another one helps, not another start
)

// Main runs the command line of this process and returns the status to end with.
// The version is that of the build, empty if the build was given none.
func Main(version string) int {
	ctx, stopByHangup := untilStopped()
	return execute(ctx, stopByHangup, command(versionOf(version)))
}

// execute runs the command line, prints what is wrong, and returns the status to
// end with.
func execute(ctx context.Context, stopByHangup func(), root *cobra.Command) int {
	begun := false
	addCompletion(root)
	eachCommand(root, func(cmd *cobra.Command) {
		if run := cmd.RunE; run != nil {
			cmd.RunE = func(cmd *cobra.Command, args []string) error {
				begun = true
				if stopsOnHangup(cmd) {
					stopByHangup()
				}
				return run(cmd, args)
			}
		}
	})
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	report(os.Stderr, err)
	if wrong := (app.SettingError{}); (!begun || errors.As(err, &wrong)) && !app.MayBeMounted(err) {
		return exitUsage
	}
	return exitFailed
}

// report prints what is wrong in one line, and what to do about it in another.
func report(out io.Writer, err error) {
	text, advice := hint.Split(err)
	fmt.Fprintf(out, "teamdata: %s\n", text)
	if advice != "" {
		fmt.Fprintf(out, "  hint: %s\n", advice)
	}
}

func eachCommand(cmd *cobra.Command, fn func(*cobra.Command)) {
	fn(cmd)
	for _, below := range cmd.Commands() {
		eachCommand(below, fn)
	}
}

// command is the whole command line.
func command(version string) *cobra.Command {
	root := &cobra.Command{
		Use:           "teamdata",
		Short:         "Members, audit log, API keys and webhooks, as one binary on one file",
		Long:          overview,
		Version:       version,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(cmd *cobra.Command, args []string) error {
			if err := checkArguments(cmd.Flags()); err != nil {
				return err
			}
			if err := fromEnvironment(cmd.Flags()); err != nil {
				return err
			}
			if err := checkValues(cmd, args); err != nil {
				return err
			}
			return missingFlags(cmd)
		},
	}
	root.AddCommand(operator.Commands(operatorConfig(version))...)
	root.AddCommand(serveCommand(), doctorCommand(), configCommand(), healthcheckCommand(),
		backupCommand(), restoreCommand(), checkCommand(), compactCommand(), exportCommand(), importCommand(), migrateCommand(),
		listen.Command(), benchCommand(), manCommand(), versionCommand())
	operator.OnlyBelow(root)
	setHelp(root)
	root.SetFlagErrorFunc(flagError)
	eachCommand(root, func(cmd *cobra.Command) {
		completeFlags(cmd)
		if cmd.Args == nil { // what takes arguments says which
			cmd.Args = operator.NoArgs
		}
	})
	return root
}

// operatorConfig is what the operator's commands need.
func operatorConfig(version string) operator.Config {
	return operator.Config{Version: version, DefaultData: app.DefaultData, Connect: connector{version}.connect, Width: terminal.Width}
}

func versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go version and the platform",
		RunE: func(cmd *cobra.Command, _ []string) error {
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
				FIPS    string `json:"fips140"` // off, on or only
				Module  string `json:"fips140Module"`
				SaferGo string `json:"saferGo,omitempty"` // the Go to build it with, if that in go has known vulnerabilities
			}{cmd.Root().Version, runtime.Version(), runtime.GOOS, runtime.GOARCH, doctor.FIPS(), fips140.Version(), doctor.SaferGo(runtime.Version())}
			if asJSON {
				return terminal.JSON(cmd.OutOrStdout(), v)
			}
			line := fmt.Sprintf("teamdata %s %s %s/%s", v.Version, v.Go, v.OS, v.Arch)
			if v.FIPS != "off" {
				line += fmt.Sprintf(" fips140=%s, module %s", v.FIPS, v.Module)
			}
			if _, err := fmt.Fprintln(cmd.OutOrStdout(), line); err != nil || v.SaferGo == "" {
				return err
			}
			_, err := fmt.Fprintf(cmd.ErrOrStderr(), "warning: vulnerabilities are known in %s\n  hint: %s\n", v.Go, doctor.GoAdvice(v.SaferGo))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// versionOf returns the version set by the build, or the module's version, or the
// commit that was built.
func versionOf(told string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(told, "unknown")
	}
	if v := cmp.Or(told, info.Main.Version); v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "commit " + s.Value
		}
	}
	return "development"
}
