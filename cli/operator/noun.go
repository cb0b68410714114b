package operator

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// noun is a command for one kind of record.
type noun struct {
	*cobra.Command
	kit   *kit
	inOrg bool // its records belong to an org
}

// verb is what can be done with the records of a noun.
type verb struct {
	use     string // its name and its arguments
	short   string
	long    string
	example string // without the program's name
	args    cobra.PositionalArgs
	ids     idList // where the ids are that its first argument may be
	makes   bool   // makes the data file if it is not there
	inOrg   bool
	confirm func(args []string) string // what can't be undone, as a sentence without its full stop; empty or nil: nothing
	run     func(s *session, args []string) error
}

func newNoun(k *kit, name, short string) *noun {
	cmd := &cobra.Command{Use: name, Short: short}
	OnlyBelow(cmd)
	k.bind(cmd.PersistentFlags())
	return &noun{Command: cmd, kit: k}
}

// newOrgNoun is a noun whose records belong to an org.
func newOrgNoun(k *kit, name, short string) *noun {
	n := newNoun(k, name, short)
	n.inOrg = true
	k.bindOrg(n.PersistentFlags())
	return n
}

func (k *kit) bindOrg(f *pflag.FlagSet) {
	f.StringVar(&k.org, "org", "", "the `id` of the org; may be left out where there is one org only")
}

// add adds a verb, and returns its flags.
func (n *noun) add(v verb) *pflag.FlagSet {
	v.inOrg = v.inOrg || n.inOrg
	cmd := &cobra.Command{
		Use: v.use, Short: v.short, Long: v.long, Example: examples(v.example), Args: v.args,
		RunE: func(cmd *cobra.Command, args []string) error { return n.kit.run(cmd, args, v) },
	}
	cmd.ValidArgsFunction = n.kit.complete(v)
	if v.confirm != nil {
		cmd.Flags().BoolVarP(&n.kit.yes, "yes", "y", false, "don't ask")
	}
	n.AddCommand(cmd)
	return cmd.Flags()
}

// addList adds the verb list, which prints all records.
func (n *noun) addList(v verb) *pflag.FlagSet {
	if v.use == "" {
		v.use = "list"
	}
	v.args = cobra.NoArgs
	f := n.add(v)
	f.IntVar(&n.kit.limit, "limit", 0, "print so many at most; 0 for all")
	return f
}

// examples puts the program's name before each line.
func examples(text string) string {
	return "  teamdata " + strings.ReplaceAll(text, "\n", "\n  teamdata ")
}

// OnlyBelow makes a command that does nothing itself: it shows its help, and
// refuses a command that is not below it.
func OnlyBelow(cmd *cobra.Command) {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = unknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
}

func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q for %q", args[0], cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		text += "; did you mean " + strings.Join(near, " or ") + "?"
	}
	return fmt.Errorf("%s; see: %s --help", text, cmd.CommandPath())
}

// one asks for one argument that stands for a record.
func one(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("takes one argument, as in: %s; see: %s --help", cmd.UseLine(), cmd.CommandPath())
	}
	return validID(cmd, args)
}

// oneOrNone is one that may be left out.
func oneOrNone(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return one(cmd, args)
}

// validID keeps what leads elsewhere out of a path.
func validID(cmd *cobra.Command, args []string) error {
	if id := args[0]; strings.Trim(id, ".") == "" || strings.ContainsAny(id, "/\\") {
		return fmt.Errorf("%q is not a name or an id; see: %s --help", id, cmd.CommandPath())
	}
	return nil
}

// require marks flags that have to be given.
func require(cmd *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := cobra.MarkFlagRequired(cmd, name); err != nil {
			panic(err) // there is no such flag
		}
	}
}
