package cli

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
)

// groupOf is the annotation of a flag that names its group.
const groupOf = "group"

// bindSettings makes the flags of serve.
func bindSettings(f *pflag.FlagSet, s *app.Settings) {
	for _, g := range app.SettingGroups {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		g.Bind(flags, s)
		flags.VisitAll(func(flag *pflag.Flag) {
			flag.Annotations = map[string][]string{groupOf: {g.Title}}
			f.AddFlag(flag)
		})
	}
}

// flagUsages are the flags of a command as its help and its manual page show them:
// those in groups first, each group below its title, then the others.
func flagUsages(f *pflag.FlagSet, columns int) (text string) {
	of := func(title string) string {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		flags.SortFlags = title == ""
		f.VisitAll(func(flag *pflag.Flag) {
			if strings.Join(flag.Annotations[groupOf], "") == title {
				flags.AddFlag(flag)
			}
		})
		return flags.FlagUsagesWrapped(columns)
	}
	for _, g := range app.SettingGroups {
		if flags := of(g.Title); flags != "" {
			text += " " + g.Title + ":\n" + flags + "\n"
		}
	}
	if text != "" {
		text += " Other:\n"
	}
	return text + of("")
}

// groupFlags lets the help of all commands show flags in their groups.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("flagUsages", func(f *pflag.FlagSet) string { return flagUsages(f, 0) })
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", "flagUsages .LocalFlags"))
}
