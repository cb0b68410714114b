package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/cli/operator"
	"teamdata/internal/hint"
	"teamdata/server"
	"teamdata/store"
	"teamdata/wire/strictjson"
)

// flagError explains an error in a command's flag, and suggests what may have
// been meant.
func flagError(cmd *cobra.Command, err error) error {
	unknown := (*pflag.NotExistError)(nil)
	if errors.As(err, &unknown) && unknown.GetSpecifiedName() == "all" {
		if help, _ := cmd.Flags().GetBool("help"); help { // as in --help --all
			return pflag.ErrHelp
		}
	}
	if cmd.HasSubCommands() { // the flags are meant for a command below it that does not exist
		if wrong := cmd.ValidateArgs(cmd.Flags().Args()); wrong != nil {
			return wrong
		}
	}
	if unknown != nil && len(unknown.GetSpecifiedName()) > 1 {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if nearest, near := strictjson.Nearest(unknown.GetSpecifiedName(), names); near {
			return hint.With(err, fmt.Sprintf("did you mean --%s? See %s --help", nearest, cmd.CommandPath()))
		}
	}
	return operator.SeeHelp(cmd, badValue(err))
}

// forms describes the values of flags by the flag's type. Other types describe
// their own.
var forms = map[string]string{
	"int": "a whole number", "int64": "a whole number", "bool": "true or false",
	"duration": "a time such as 15s or 24h", "durationSlice": "times such as 1m,5m,25m",
}

// badValue explains what a flag's value should be.
func badValue(err error) error {
	invalid := (*pflag.InvalidValueError)(nil)
	if !errors.As(err, &invalid) {
		return err
	}
	flag := invalid.GetFlag()
	if form := forms[flag.Value.Type()]; form != "" {
		return fmt.Errorf("--%s %q is not %s", flag.Name, invalid.GetValue(), form)
	}
	return fmt.Errorf("--%s %q: %w", flag.Name, invalid.GetValue(), invalid.Unwrap())
}

// missingFlags names the flags that have to be given and are not.
func missingFlags(cmd *cobra.Command) error {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations[cobra.BashCompOneRequiredFlag]) > 0 && !f.Changed {
			names = append(names, "--"+f.Name)
		}
	})
	switch len(names) {
	case 0:
	case 1:
		return operator.SeeHelp(cmd, errors.New(names[0]+" is missing"))
	default:
		return operator.SeeHelp(cmd, errors.New(inWords(names, "and")+" are missing"))
	}
	err := cmd.ValidateFlagGroups()
	if err == nil {
		return nil
	}
	before, group, _ := strings.Cut(err.Error(), "[")
	group, _, _ = strings.Cut(group, "]")
	for name := range strings.FieldsSeq(group) {
		names = append(names, "--"+name)
	}
	switch {
	case strings.HasPrefix(before, "at least one"):
		err = errors.New("give at least one of " + inWords(names, "or"))
	case strings.HasPrefix(before, "if any flags"):
		err = errors.New("give only one of " + inWords(names, "or"))
	}
	return operator.SeeHelp(cmd, err)
}

// inWords joins names as a sentence does.
func inWords(names []string, by string) string {
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " " + by + " " + names[last]
}

// addCompletion adds the commands that print completions and help, which refuse a
// shell or a command that they don't know.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	root.InitDefaultHelpCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "completion":
			operator.OnlyBelow(cmd)
			cmd.Short = "Print the completion script of a shell"
			cmd.Long = "Prints a script with which a shell completes commands, flags and ids. The help\nof each command says how to load it."
			for _, shell := range cmd.Commands() {
				shell.Short = "Print the completion script for " + shell.Name()
			}
		case "help":
			cmd.Args = func(_ *cobra.Command, args []string) error {
				of, rest, err := root.Find(args)
				if err == nil && of.HasSubCommands() {
					err = of.ValidateArgs(rest)
				}
				return err
			}
		}
	}
}

// wordsOf are what the flags of a name take.
var wordsOf = map[string][]string{
	"access-log": {string(server.LogAll), string(server.LogErrors), string(server.LogOff)},
	"events":     selections(),
	"features":   (store.FeatureAPI | store.FeatureWebhooks | store.FeatureAuditLog).Names(),
	"role":       {store.RoleOwner, store.RoleAdmin, store.RoleViewer, store.RoleMember},
	"scopes":     (store.ScopeRead | store.ScopeWrite).Names(),
	"state":      store.DeliveryFilterStates,
}

// selections are what an endpoint may select of the built-in event types.
func selections() []string {
	all := append([]string{store.AllEvents}, store.BuiltInEventTypes...)
	for _, name := range store.BuiltInEventTypes {
		all = append(all, store.Groups(name)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// completeFlags lets a shell complete the values of a command's flags: by the words
// that they take, and by file names only where a file is meant.
func completeFlags(cmd *cobra.Command) {
	complete := func(f *pflag.Flag) {
		words := wordsOf[f.Name]
		if f.Value.Type() == "int" {
			words = nil // --events of bench is a number
		}
		if words == nil && isPath(f) {
			return // the shell can do it
		}
		cmd.RegisterFlagCompletionFunc(f.Name, func(_ *cobra.Command, _ []string, typed string) (all []cobra.Completion, _ cobra.ShellCompDirective) {
			before := typed[:strings.LastIndex(typed, ",")+1] // of a list the last one
			for _, word := range words {
				all = append(all, before+word)
			}
			return all, cobra.ShellCompDirectiveNoFileComp
		})
	}
	cmd.Flags().VisitAll(complete)
	cmd.PersistentFlags().VisitAll(complete)
}
