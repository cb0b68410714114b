package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// secretFlag marks a flag whose value is a secret.
const secretFlag = "secret"

// dataFlags are the flags that name the data. The URL of a database may hold a password.
var dataFlags = []string{"data", "from", "to"}

// fromFile reports whether a flag can be set from a file that the environment names.
func fromFile(f *pflag.Flag) bool {
	_, isSecret := f.Annotations[secretFlag]
	return isSecret || slices.Contains(dataFlags, f.Name)
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

// secret lets a flag be set from a file as well, which TEAMDATA_A_B_FILE names.
func secret(flags *pflag.FlagSet, name string) {
	if err := flags.SetAnnotation(name, secretFlag, nil); err != nil {
		panic(err) // there is no such flag
	}
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
	return strings.TrimSpace(string(content)), name, true, err
}

func environmentName(flag string) string {
	return "TEAMDATA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
