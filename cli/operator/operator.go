// Package operator is the command line of the operator: one command per kind of
// record, with its actions as subcommands. It calls the admin API and prints the
// answer: as text for people, or unchanged with --json.
//
// It speaks only HTTP, by the transport of the Go client. Config.Connect finds the API:
// at a server's address, on its socket, or in this process on a data file that no server
// has open. It imports store for its words and internal. A new action is a value in the
// file of its resource that names an operation; the paths of operations, and their flags
// with the help, are generated from the API's description.
package operator

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	teamdata "teamdata/client"
	"teamdata/internal/terminal"
)

// Config is what the commands need of the program.
type Config struct {
	// Version is the program's own. A server of another version is reported.
	Version string
	// DefaultData is the data file when no flag names one.
	DefaultData string
	// Connect finds the admin API.
	Connect func(context.Context, Target) (Connection, error)
	// Width is how many columns the terminal has that is written to, 0 where it
	// is none.
	Width func(io.Writer) int
}

// Target is where the admin API is, according to the flags.
type Target struct {
	Data        string // the data file, or the URL of a database
	StateDir    string // of a server on a database; empty: the working directory
	SealKeyFile string // the key that its secrets are sealed with; empty: none
	Socket      string // of the server; empty: beside the data file, or in StateDir
	Server      string // URL of a server elsewhere; empty: the one on this machine
	CAFile      string // the CA of its certificate; empty: the system's
	TokenFile   string // file with the operator token; empty: the environment
	PublicURL   string // where people reach the server, for work without one; empty: not known
	Make        bool   // make the data file if it is not there
	Served      bool   // only by a server, never in this process; without one it is [ErrNoServer]
}

// ErrNoServer is the error of a target that has to be served and is not.
var ErrNoServer = errors.New("no server listens")

// TokenFrom is what the operator token is read from, for people.
func (t Target) TokenFrom() string {
	if t.TokenFile == "" {
		return "TEAMDATA_OPERATOR_TOKEN"
	}
	return "--operator-token-file " + t.TokenFile
}

// Connection is a way to the admin API.
type Connection struct {
	teamdata.Config              // without what the commands decide, such as the retries
	Close           func() error // ends it, once all is done
}

// env is what the commands share: of one command line only one of them runs.
type env struct {
	Config
	target         Target
	org            string
	actor          string
	idempotencyKey string
	limit          int
	json           bool
	quiet          bool
	yes            bool
}

// Commands are the commands of all resources.
func Commands(c Config) []*cobra.Command {
	e := &env{Config: c}
	return []*cobra.Command{
		orgCommand(e), subscriptionCommand(e), planCommand(e), memberCommand(e), auditCommand(e),
		keyCommand(e), endpointCommand(e), deliveryCommand(e), replayCommand(e), eventCommand(e), eventTypeCommand(e),
		instructionsCommand(e), fileCommand(e), operatorTokenCommand(e), signInLinkCommand(e), portalLinkCommand(e), portalSessionCommand(e), nodeCommand(e), statusCommand(e),
		clockCommand(e), resetCommand(e),
	}
}

// FlagGroup is the annotation of a flag with the title that it is shown below. SharedFlags
// is the title of those that every command here has; the short help only mentions them.
const (
	FlagGroup   = "group"
	SharedFlags = "Of all commands for orgs and their data"
)

// bind adds the flags that every command has.
func (e *env) bind(to *pflag.FlagSet) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&e.target.Data, "data", e.DefaultData, "the data `file`, also while a server on this machine has it open; or postgres://… for a PostgreSQL database")
	f.StringVar(&e.target.StateDir, "state-dir", "", "the `folder` with the socket of a server on a database; default: the working directory")
	f.StringVar(&e.target.SealKeyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with; needed only while no server runs")
	f.StringVar(&e.target.Socket, "socket", "", "the `socket` of the server on this machine; default: the data file's path followed by .sock, or teamdata.sock in --state-dir")
	f.StringVar(&e.target.Server, "server", "", "the `URL` of a server elsewhere, such as https://data.example.com; the operator token is read from TEAMDATA_OPERATOR_TOKEN")
	f.StringVar(&e.target.TokenFile, "operator-token-file", "", "a `file` with the operator token for --server")
	f.StringVar(&e.target.CAFile, "ca-file", "", "a PEM `file` with a CA to trust for --server, in addition to the system's")
	f.StringVar(&e.actor, "actor", "", "the `user` whom the audit entry names as the actor")
	f.StringVar(&e.idempotencyKey, "idempotency-key", "", "a `text` that makes the command safe to repeat: within 24 hours it creates or sends the same thing only once")
	f.BoolVar(&e.json, "json", false, "print the API's answer as JSON")
	f.BoolVarP(&e.quiet, "quiet", "q", false, "print only the id, or the secret if there is a new one")
	share(to, f)
}

// share adds flags as those that commands share.
func share(to, flags *pflag.FlagSet) {
	flags.VisitAll(func(f *pflag.Flag) {
		f.Annotations = map[string][]string{FlagGroup: {SharedFlags}}
		to.AddFlag(f)
	})
}

func (e *env) bindOrg(to *pflag.FlagSet) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.StringVar(&e.org, "org", "", "the `id` of the org; may be left out while there is only one")
	share(to, f)
}

// run connects, does what a command does, and ends the connection.
func (e *env) run(cmd *cobra.Command, args []string, a *action) (err error) {
	if a.confirm != "" {
		if err := terminal.Confirm(cmd.InOrStdin(), cmd.ErrOrStderr(), e.yes, fill(a.confirm, args)); err != nil {
			return err
		}
	}
	if len(args) > 0 && strings.Contains(a.use, "ORG") {
		e.org = args[0]
	}
	e.target.Make = a.makes
	s := &session{env: e, cmd: cmd, args: args, out: output{cmd.OutOrStdout(), e.Width(cmd.OutOrStdout())}}
	if !a.connects {
		if err := s.connect(); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, s.disconnect()) }()
	if err := s.confirm(a); err != nil {
		return err
	}
	return a.run(s)
}
