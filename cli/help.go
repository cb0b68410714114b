package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/cli/operator"
	"teamdata/internal/terminal"
)

// overview is the help of teamdata itself. It has each command once; a test keeps it so.
const overview = `The members, audit log, API keys and webhooks of your product's customers, or of
your own team: an API and a settings page, as one binary on one file.

Start
  serve               first: serve --demo to look around, serve to keep data
  org                 then create an org, which owns all other data
  member              add its people, one at a time or from a CSV file
  signin-link         to let an owner, admin or viewer sign in to the page
  key                 for a program that reads the data: create an API key
  endpoint            for a program that receives events: say where
Every day
  audit               to see who did what, or to add entries of your own
  event, event-type   to send events, and to register types of your own
  plan, subscription  when a customer's plan changes, or what it includes
  portal-link         to show the settings page inside your product
  portal-session      to end the sessions that these links began
  operator-token      for a program elsewhere that uses the admin API
  instructions        to tell an org's assistant how to behave
  file                when your software has stored a file for an org
When something is wrong
  doctor              first: checks settings, data, disk, certificates, server
  status              to see what runs, and how much is waiting
  delivery            when an event didn't arrive: what was sent and answered
  replay              when the receiver works again: replay all that failed
  config              to see which settings apply; config check is for units
  healthcheck         for containers and load balancers: is the server ready?
  node                when several servers share a database: which ones run?
The file
  backup, restore     every day and before upgrades; after data was lost
  export, import      to read all records as JSON; to add records from elsewhere
  migrate             when a file has to become a database, or the reverse
  check               after a fault of the disk: is the data damaged?
  compact             after many deletions: return free space to the disk
Tests
  listen              to receive events on this machine and print them
  clock, reset        to make time pass on a test server, and to start over
  bench               before you buy a machine: how much can this one do?

Also: completion, help, man, version. Each command has --help. Each flag --a-b
can be set in the environment as TEAMDATA_A_B; the flag wins.
`

// helpWidth is that of a terminal that nobody made wider.
const helpWidth = 80

// setHelp gives all commands their help. With --all behind --help it shows all flags.
func setHelp(root *cobra.Command) {
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		fmt.Fprint(cmd.OutOrStdout(), helpOf(cmd, slices.Contains(args, "--all")))
	})
}

// helpOf is the help of a command. Without all, flags that many commands share and the
// lesser ones of serve are only mentioned.
func helpOf(cmd *cobra.Command, all bool) string {
	if !cmd.HasParent() {
		return overview
	}
	usage := "  " + cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		if cmd.Example == "" { // it does nothing by itself
			usage = ""
		}
		usage += "\n  " + cmd.CommandPath() + " COMMAND"
	}
	text := strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)) + "\n"
	for _, section := range [][2]string{
		{"Usage", usage}, {"Examples", cmd.Example}, {"Commands", below(cmd, "  ")}, {"Flags", flagHelp(cmd, all)},
		{"Notes", indent(cmd.Annotations[notes])},
	} {
		if content := strings.Trim(section[1], "\n"); content != "" {
			text += "\n" + section[0] + ":\n" + content + "\n"
		}
	}
	if more := folded(cmd); more != "" && !all {
		text += "\n" + more + ":\n  " + cmd.CommandPath() + " --help --all\n"
	}
	return text
}

// notes is the annotation of a command with what few need to know, which its help shows
// below the flags.
const notes = "notes"

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// mostNeeded are the flags that the help of serve shows unless all are asked for.
var mostNeeded = []string{"demo", "data", "listen", "domain", "acme-accept-terms", "tls-cert", "tls-key", "http", "trusted-proxies",
	"public-url", "smtp-url", "mail-from", "backup-dir", "seal-key-file", "allow-endpoint-cidr", "webhook-ca", "metrics"}

func flagHelp(cmd *cobra.Command, all bool) string {
	cmd.InheritedFlags() // which adds those of the commands above it to Flags
	if all {
		return flagUsages(cmd.Flags(), helpWidth)
	}
	if cmd.Name() == "serve" {
		return mostNeededFlags(cmd.Flags())
	}
	return usagesOf(cmd.Flags(), "", helpWidth)
}

// mostNeededFlags are a line each: their usage up to its first semicolon.
func mostNeededFlags(of *pflag.FlagSet) string {
	var b strings.Builder
	var rows [][]string
	for _, name := range mostNeeded {
		kind, usage := pflag.UnquoteUsage(of.Lookup(name))
		usage, _, _ = strings.Cut(usage, ";")
		rows = append(rows, []string{strings.TrimRight("  --"+name+" "+kind, " "), usage})
	}
	(&terminal.Table{To: &b}).Print(rows...) // a builder takes all
	return b.String()
}

// folded says which flags the help of a command leaves out; empty: none.
func folded(cmd *cobra.Command) string {
	var shared []string
	for _, name := range []string{"data", "server", "org", "actor", "json", "quiet"} {
		if f := cmd.Flags().Lookup(name); f != nil && groupOf(f) == operator.SharedFlags {
			shared = append(shared, "--"+name)
		}
	}
	switch f := cmd.Flags().Lookup("listen"); {
	case shared != nil:
		return "Also " + strings.Join(shared, ", ") + " and more"
	case f == nil || groupOf(f) == "":
		return ""
	case cmd.Name() == "serve":
		return "More flags"
	}
	return "Also the flags of serve"
}

// newFlags is a set of flags to show.
func newFlags() *pflag.FlagSet { return pflag.NewFlagSet("", pflag.ContinueOnError) }

// groupOf is the title of the group that a flag is shown in; empty: it is the command's own.
func groupOf(f *pflag.Flag) string { return strings.Join(f.Annotations[operator.FlagGroup], "") }

// bindSettings makes the flags of serve.
func bindSettings(f *pflag.FlagSet, s *app.Settings) {
	for _, g := range app.SettingGroups {
		flags := newFlags()
		g.Bind(flags, s)
		flags.VisitAll(func(flag *pflag.Flag) {
			flag.Annotations = map[string][]string{operator.FlagGroup: {g.Title}}
			f.AddFlag(flag)
		})
	}
}

// flagUsages are all flags of a command: its own, then each group below its title.
func flagUsages(f *pflag.FlagSet, columns int) (text string) {
	titles := []string{"", operator.SharedFlags}
	for _, g := range app.SettingGroups {
		titles = append(titles, g.Title)
	}
	for _, title := range titles {
		usages := usagesOf(f, title, columns)
		if title != "" && usages != "" {
			text += "\n " + title + ":\n"
		}
		text += usages
	}
	return text
}

// usagesOf are the flags of a group.
func usagesOf(f *pflag.FlagSet, title string, columns int) string {
	flags := newFlags()
	flags.SortFlags = title == ""
	f.VisitAll(func(flag *pflag.Flag) {
		if groupOf(flag) == title && flag.Name != "help" {
			flags.AddFlag(flag)
		}
	})
	return flags.FlagUsagesWrapped(columns)
}
