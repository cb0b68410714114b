package operator

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/internal/hint"
)

// resource is the command for one kind of record, with its actions below it.
type resource struct {
	*cobra.Command
	env *env
	ids idList // that of the action with columns, once it is added
}

// idList is where the ids of a resource's records are: a list, and the field with the id.
// Without it the shell completes none.
type idList struct {
	operation
	field string
}

// action is what can be done with the records of a resource. In its texts {id} is the
// command's first argument.
type action struct {
	use     string // its name and its arguments, those that a record is named by in capitals
	short   string // empty: the summary of op
	long    string
	example string               // without the program's name
	args    cobra.PositionalArgs // nil: what use shows
	makes   bool                 // makes the data file if it is not there

	op       operation                                      // whose flags it has, unless do is set
	argument string                                         // the field of the body that the first argument is; empty: it is in the path
	addTo    func(s *session, body object) error            // adds what else is in the body
	print    func(s *session, answer json.RawMessage) error // for people, unless it is a secret; nil: the record
	shows    string                                         // the field that --quiet prints; empty: id
	secret   bool                                           // the answer has a secret, which is answered once
	done     string                                         // what to say afterwards, on stderr; of a DELETE on stdout, where empty is that it is deleted
	confirm  string                                         // what can't be undone, as a sentence without its full stop
	asks     func(s *session) (string, error)               // confirm, where the server has to be asked for it; empty: nothing
	columns  columns                                        // of a list
	none     string                                         // what to say of an empty list
	do       func(s *session) error                         // nil: request op, and print the answer
}

func newResource(e *env, name, short string) *resource {
	cmd := &cobra.Command{Use: name, Short: short}
	OnlyBelow(cmd)
	e.bind(cmd.PersistentFlags())
	return &resource{Command: cmd, env: e}
}

// newOrgResource is a resource whose records belong to an org.
func newOrgResource(e *env, name, short string) *resource {
	r := newResource(e, name, short)
	e.bindOrg(r.PersistentFlags())
	return r
}

// add adds an action, and returns its command.
func (r *resource) add(a action) *cobra.Command {
	if a.columns != nil {
		r.ids = idList{a.op, a.columns[1]}
	}
	cmd := r.env.command(&a, &r.ids)
	r.AddCommand(cmd)
	return cmd
}

// single is the command of an action that stands beside the resources.
func (e *env) single(a action, ids idList) *cobra.Command {
	cmd := e.command(&a, &ids)
	e.bind(cmd.Flags())
	if strings.Contains(a.op.path, "{org}") {
		e.bindOrg(cmd.Flags())
	}
	return cmd
}

// command is the command of an action. The shell completes ids that are listed once it
// runs.
func (e *env) command(a *action, ids *idList) *cobra.Command {
	cmd := &cobra.Command{
		Use: a.use, Short: cmp.Or(a.short, a.op.summary), Long: a.long, Args: a.args,
		Example: "  teamdata " + strings.ReplaceAll(a.example, "\n", "\n  teamdata "),
		RunE:    func(cmd *cobra.Command, args []string) error { return e.run(cmd, args, a) },
	}
	_, arguments, _ := strings.Cut(a.use, " ")
	switch {
	case a.args != nil:
	case arguments == "" || arguments[0] == '-':
		cmd.Args, ids = NoArgs, nil
	case arguments[0] == '[':
		cmd.Args = oneOrNone
	default:
		cmd.Args = one
	}
	if name := cmd.Name(); name == "add" || name == "create" { // there is no id yet
		ids = nil
	}
	cmd.ValidArgsFunction = e.complete(ids)
	if a.do == nil {
		a.op = a.op.without(a.argument)
		a.op.bind(cmd.Flags())
		a.requireFlags(cmd)
	}
	if strings.HasPrefix(arguments, "[ORG]") {
		e.bindOrg(cmd.Flags())
	}
	if a.confirm != "" || a.asks != nil {
		cmd.Flags().BoolVarP(&e.yes, "yes", "y", false, "don't ask")
	}
	if a.columns != nil {
		cmd.Flags().IntVar(&e.limit, "limit", 0, "print at most `n` of them; 0 for all")
		cmd.PreRunE = func(*cobra.Command, []string) error {
			if e.limit < 0 {
				return errors.New("--limit must be 0 (all) or more")
			}
			return nil
		}
	}
	return cmd
}

// requireFlags marks the flags of required fields. An update without any changes one field
// at least; one with addTo says itself which flags there are.
func (a *action) requireFlags(cmd *cobra.Command) {
	isUpdate := (a.op.method == http.MethodPatch || a.op.method == http.MethodPut) && a.addTo == nil
	for _, f := range a.op.flags {
		if f.required {
			require(cmd.Flags(), f.name)
			isUpdate = false
		}
	}
	if isUpdate {
		cmd.MarkFlagsOneRequired(a.op.names()...)
	}
}

// run does the action.
func (a *action) run(s *session) error {
	switch {
	case a.do != nil:
		return a.do(s)
	case a.columns != nil:
		return s.list(a)
	}
	body, err := a.body(s)
	if err != nil {
		return err
	}
	return s.ask(a, body)
}

// body is what the action sends; nil: nothing.
func (a *action) body(s *session) (object, error) {
	if len(a.op.flags) == 0 && a.argument == "" && a.addTo == nil {
		return nil, nil
	}
	body := a.op.fieldsSet(s.cmd.Flags())
	if a.argument != "" {
		body[a.argument] = s.args[0]
	}
	if err := s.resolveTimes(body); err != nil || a.addTo == nil {
		return body, err
	}
	return body, a.addTo(s, body)
}

// fill puts the first argument in the place of {id}.
func fill(text string, args []string) string {
	if len(args) > 0 {
		text = strings.ReplaceAll(text, "{id}", args[0])
	}
	return text
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
	err := fmt.Errorf("unknown command %q for %q", args[0], cmd.CommandPath())
	if elsewhere := suggestedFor(cmd.Root(), cmd.Name()+" "+args[0]); elsewhere != nil {
		return hint.With(err, fmt.Sprintf("did you mean %[1]s? See %[1]s --help", elsewhere.CommandPath()))
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return hint.With(err, fmt.Sprintf("did you mean %s? See %s --help", strings.Join(near, " or "), cmd.CommandPath()))
	}
	return SeeHelp(cmd, err)
}

// suggestedFor finds the command that is meant by a name that is another resource's.
func suggestedFor(cmd *cobra.Command, typed string) *cobra.Command {
	if slices.Contains(cmd.SuggestFor, typed) {
		return cmd
	}
	for _, below := range cmd.Commands() {
		if found := suggestedFor(below, typed); found != nil {
			return found
		}
	}
	return nil
}

// NoArgs refuses arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return SeeHelp(cmd, fmt.Errorf("takes no argument, but %q is given", args[0]))
}

// SeeHelp adds to an error in a command line where its help is.
func SeeHelp(cmd *cobra.Command, err error) error {
	return hint.With(err, "see "+cmd.CommandPath()+" --help")
}

// one takes one argument that names a record and is a single path segment.
func one(cmd *cobra.Command, args []string) error {
	if len(args) != 1 {
		return SeeHelp(cmd, errors.New("takes one argument, as in: "+cmd.UseLine()))
	}
	if err := checkID(args[0]); err != nil {
		return SeeHelp(cmd, err)
	}
	return nil
}

// checkID refuses what can't be a segment of a path.
func checkID(id string) error {
	if strings.Trim(id, ".") == "" || strings.ContainsAny(id, "/\\") {
		return fmt.Errorf("%q is not a name or an id", id)
	}
	return nil
}

// oneOrNone is one that may be left out.
func oneOrNone(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return one(cmd, args)
}

// require marks flags that have to be given.
func require(cmd *pflag.FlagSet, names ...string) {
	for _, name := range names {
		if err := cobra.MarkFlagRequired(cmd, name); err != nil {
			panic(err) // there is no such flag
		}
	}
}

// completeWithin is how long a shell waits for names.
const completeWithin = 2 * time.Second

// complete lets the shell complete an action's first argument by the ids that the
// API has. An error completes nothing.
func (e *env) complete(ids *idList) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) (names []cobra.Completion, _ cobra.ShellCompDirective) {
		if ids == nil || ids.path == "" || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeWithin)
		defer cancel()
		cmd.SetContext(ctx)
		if fromEnvironment := cmd.Root().PersistentPreRunE; fromEnvironment != nil && fromEnvironment(cmd, nil) != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		e.run(cmd, nil, &action{do: func(s *session) (err error) {
			names, err = s.names(*ids, maxPage)
			return err
		}})
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
