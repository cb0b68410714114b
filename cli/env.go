package cli

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/cli/operator"
	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// secretFlags are the flags whose values are secrets.
var secretFlags = []string{"smtp-url", "egress-proxy"}

// dataFlags are the flags that name the data. The URL of a database may hold a password.
var dataFlags = []string{"data", "from", "to"}

// fromFile reports whether a flag --a-b can be set from a file that TEAMDATA_A_B_FILE names.
func fromFile(f *pflag.Flag) bool {
	return slices.Contains(secretFlags, f.Name) || slices.Contains(dataFlags, f.Name)
}

// checkArguments refuses a password among the arguments, which others could see.
func checkArguments(flags *pflag.FlagSet) error {
	for _, name := range dataFlags {
		f := flags.Lookup(name)
		if f == nil || !f.Changed {
			continue
		}
		shown, err := app.HasPassword(f.Value.String())
		if err != nil {
			return err
		}
		if shown {
			return hint.New("--"+name+" holds a password, which other users of this machine can see among the arguments",
				fmt.Sprintf("put the URL into %s, or into a file that %[1]s_FILE names; or the password alone into the file that PGPASSFILE names", environmentName(name)))
		}
	}
	return nil
}

// checkValues refuses values that no command can use, wherever they come from.
func checkValues(cmd *cobra.Command, args []string) error {
	if err := checkText(cmd, args); err != nil {
		return err
	}
	return checkData(cmd.Flags())
}

// checkData refuses what can't be data, wherever a flag got it from; see [app.CheckData].
func checkData(flags *pflag.FlagSet) error {
	for _, name := range dataFlags {
		if f := flags.Lookup(name); f != nil {
			if err := app.CheckData("--"+name, f.Value.String()); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkText refuses values of flags that are not UTF-8, but for paths, and such arguments.
func checkText(cmd *cobra.Command, args []string) (err error) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if err == nil && !isPath(f) {
			err = operator.CheckText("--"+f.Name, f.Value.String())
		}
	})
	if err == nil && !takesPath(cmd) {
		for _, arg := range args {
			err = cmp.Or(err, operator.CheckText(fmt.Sprintf("the argument %q", arg), arg))
		}
	}
	return err
}

// isPath reports whether a flag takes a path, which may have any bytes.
func isPath(f *pflag.Flag) bool {
	kind, _ := pflag.UnquoteUsage(f)
	return slices.Contains([]string{"file", "folder", "socket"}, kind)
}

// takesPath reports whether the argument of a command is a path, as its use shows.
func takesPath(cmd *cobra.Command) bool {
	_, argument, _ := strings.Cut(cmd.Use, " ")
	argument = strings.TrimLeft(argument, "[")
	return slices.ContainsFunc([]string{"FILE", "FOLDER", "BACKUP"}, func(path string) bool { return strings.HasPrefix(argument, path) })
}

// fromEnvironment sets each flag --a-b that the command line left alone from
// TEAMDATA_A_B.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Changed || err != nil {
			return
		}
		value, name, set, e := environmentValue(f)
		if e == nil && set {
			e = badValue(flags.Set(f.Name, value))
		}
		if e != nil {
			err = fmt.Errorf("%s in the environment: %w", name, e)
		}
	})
	return err
}

// environmentValue returns a flag's value in the environment, and the variable's name.
func environmentValue(f *pflag.Flag) (value, name string, set bool, err error) {
	name = environmentName(f.Name)
	value, set = os.LookupEnv(name)
	if set || !fromFile(f) {
		return value, name, set, nil
	}
	name += "_FILE"
	file, set := os.LookupEnv(name)
	if !set {
		return "", name, false, nil
	}
	content, err := smallfile.Read(file)
	return strings.TrimSpace(strings.TrimPrefix(string(content), "\ufeff")), name, true, err // without the mark that some editors begin a file with
}

func environmentName(flag string) string {
	return "TEAMDATA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
