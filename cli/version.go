package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the Go version and the platform",
		Args:  cobra.NoArgs,
		Run: func(cmd *cobra.Command, _ []string) {
			fmt.Fprintf(cmd.OutOrStdout(), "teamdata %s %s %s/%s\n", cmd.Root().Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
		},
	}
}

// versionOf is the version that the build was told, or what it knows of itself: the
// module's version, or the commit that was built.
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
