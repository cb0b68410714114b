package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// buildVersion is set by builds that have no repository around them, with
// -ldflags "-X main.buildVersion=v1.2.3".
var buildVersion string

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what it was built with and for",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "teamdata %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// version is what the build was told, or knows of itself: the module's version,
// or the commit that was built.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(buildVersion, "unknown")
	}
	if v := cmp.Or(buildVersion, info.Main.Version); v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "commit " + s.Value
		}
	}
	return "development"
}
