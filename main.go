// Teamdata serves the members, audit log, API keys and webhooks of a product's customers
// from one file. The command line is in package cli.
package main

import (
	"os"
	"runtime/debug"

	"teamdata/cli"
)

// buildVersion is set by builds that have no repository around them, with
// -ldflags "-X main.buildVersion=v1.2.3".
var buildVersion string

// gcPercent trades memory, of which a server needs little, for fewer
// collections. GOGC in the environment wins.
const gcPercent = 400

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Main(buildVersion))
}
