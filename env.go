package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"
)

// fromEnvironment sets each flag --a-b that the command line left alone from
// TEAMDATA_A_B.
func fromEnvironment(flags *pflag.FlagSet) (err error) {
	flags.VisitAll(func(f *pflag.Flag) {
		name := environmentName(f.Name)
		value, set := os.LookupEnv(name)
		if !set || f.Changed || err != nil {
			return
		}
		if e := flags.Set(f.Name, value); e != nil {
			err = fmt.Errorf("%s in the environment: %w", name, e)
		}
	})
	return err
}

func environmentName(flag string) string {
	return "TEAMDATA_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}
