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
	secret(f, "smtp-url")
}

// flagUsages are the flags of a command as its help and its manual page show them:
// those in groups first, each group below its title, then the others.
func flagUsages(f *pflag.FlagSet, columns int) (text string) {
	groups := map[string]*pflag.FlagSet{}
	others := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.VisitAll(func(flag *pflag.Flag) {
		title := flag.Annotations[groupOf]
		if title == nil {
			others.AddFlag(flag)
			return
		}
		if groups[title[0]] == nil {
			groups[title[0]] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[title[0]].SortFlags = false
		}
		groups[title[0]].AddFlag(flag)
	})
	if len(groups) == 0 {
		return others.FlagUsagesWrapped(columns)
	}
	for _, g := range app.SettingGroups {
		if flags := groups[g.Title]; flags != nil {
			text += " " + g.Title + ":\n" + flags.FlagUsagesWrapped(columns) + "\n"
		}
	}
	return text + " Other:\n" + others.FlagUsagesWrapped(columns)
}

// groupFlags lets the help of all commands show flags in their groups.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("flagUsages", func(f *pflag.FlagSet) string { return flagUsages(f, 0) })
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", "flagUsages .LocalFlags"))
}
