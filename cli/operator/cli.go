// Package operator is the command line of the operator: one command for each kind of
// record, with what can be done with it below. It asks the admin API, and prints
// what that answers: text for people, with --json the answer as it is.
//
// It speaks HTTP and nothing else. Where the API is, Config.Connect finds out: on
// a server's address, on its socket, or in this process on a data file that
// nobody serves.
package operator

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Config is what the commands need of the program.
type Config struct {
	// Version is the program's own. One that differs from the server's is told.
	Version string
	// DefaultData is the data file when no flag names one.
	DefaultData string
	// Connect finds the admin API.
	Connect func(context.Context, Target) (Connection, error)
	// Confirm asks on a terminal before something that can't be undone, unless
	// yes says so already; it returns an error for a no.
	Confirm func(cmd *cobra.Command, yes bool, what string) error
	// Width is how many columns the terminal has that is written to, 0 where it
	// is none.
	Width func(io.Writer) int
}

// Target says, as far as flags do, where the admin API is.
type Target struct {
	Data        string // the data file
	SealKeyFile string // the key that its secrets are sealed with; empty: none
	Socket      string // of the server; empty: beside the data file
	Server      string // URL of a server elsewhere; empty: the one on this machine
	CAFile      string // the CA of its certificate; empty: the system's
	TokenFile   string // holds the operator token for it; empty: the environment
	PublicURL   string // where people reach the server, for work without one; empty: not known
	Make        bool   // make the data file if it is not there
}

// Connection is a way to the admin API.
type Connection struct {
	Client *http.Client
	Base   string       // what stands before /admin/v1
	Close  func() error // ends it, once all is done
}

// kit is what the commands share: of one command line only one of them runs.
type kit struct {
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

// Commands are the commands of all nouns.
func Commands(c Config) []*cobra.Command {
	k := &kit{Config: c}
	return []*cobra.Command{
		orgCommand(k), subscriptionCommand(k), planCommand(k), memberCommand(k), auditCommand(k),
		keyCommand(k), endpointCommand(k), deliveryCommand(k), eventCommand(k), eventTypeCommand(k),
		instructionsCommand(k), fileCommand(k), operatorTokenCommand(k), signInLinkCommand(k), statusCommand(k),
	}
}

// bind adds the flags that every command has.
func (k *kit) bind(f *pflag.FlagSet) {
	f.StringVar(&k.target.Data, "data", k.DefaultData, "the data `file`, or that of the server on this machine")
	f.StringVar(&k.target.SealKeyFile, "seal-key-file", "", "the `file` with the key that the data file is sealed with, for work without a server")
	f.StringVar(&k.target.Socket, "socket", "", "the `socket` of the server on this machine; default: the data file's path and .sock")
	f.StringVar(&k.target.Server, "server", "", "the `URL` of a server elsewhere, such as https://data.example.com; its operator token is read from TEAMDATA_OPERATOR_TOKEN")
	f.StringVar(&k.target.TokenFile, "operator-token-file", "", "a `file` with the operator token for --server")
	f.StringVar(&k.target.CAFile, "ca-file", "", "a PEM `file` with the CA of --server, to trust beside the system's")
	f.StringVar(&k.actor, "actor", "", "the `user` that the audit entry names")
	f.StringVar(&k.idempotencyKey, "idempotency-key", "", "a `text` that makes it safe to run a command again that adds or sends something: within 24 hours it is done once")
	f.BoolVar(&k.json, "json", false, "print the API's answer as it is")
	f.BoolVarP(&k.quiet, "quiet", "q", false, "print the id alone, or the secret where there is a new one")
}

// run connects, does what a command does, and ends the connection.
func (k *kit) run(cmd *cobra.Command, args []string, v verb) (err error) {
	if err := k.confirm(cmd, args, v); err != nil {
		return err
	}
	k.target.Make = v.makes
	s := &session{kit: k, cmd: cmd, out: newOutput(cmd, k.Width)}
	if err := s.connect(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.disconnect()) }()
	if v.inOrg {
		if err := s.findOrg(); err != nil {
			return err
		}
	}
	return v.run(s, args)
}

func (k *kit) confirm(cmd *cobra.Command, args []string, v verb) error {
	if v.confirm == nil {
		return nil
	}
	what := v.confirm(args)
	if what == "" {
		return nil
	}
	return k.Confirm(cmd, k.yes, what)
}
