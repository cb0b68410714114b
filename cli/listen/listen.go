// Package listen is the command of that name: a webhook receiver for developers.
// listen.go has its flags, run.go its lifecycle, tls.go its certificate, introduce.go
// what it prints about itself, pull.go how it pulls events instead. The receiver itself, which verifies and prints, is
// delivery/receiver.
package listen

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/delivery/receiver"
	"teamdata/internal/hint"
	"teamdata/internal/smallfile"
)

// settings are the flags.
type settings struct {
	Listen     string
	SecretFile string
	TLSDir     string
	TLSCert    string
	TLSKey     string
	HTTP       bool

	Status  int
	Delay   time.Duration
	Forward string

	Count     int
	Timeout   time.Duration
	JSON      bool
	ReadyFile string

	Pull    string
	KeyFile string
	CAFile  string
}

// Command is the command.
func Command() *cobra.Command {
	var s settings
	var l *listening
	cmd := &cobra.Command{
		Use:   "listen",
		Short: "Receive webhooks on this machine, or pull them, and print them",
		Long: `Receives webhooks while you develop. It verifies each event with the Standard
Webhooks library, prints it, and acknowledges it or answers as you say.

It speaks HTTPS with a certificate of a local CA, which it creates once and
keeps. It prints what the server and the endpoint need. Put the endpoint's
secret into a file for --secret-file, or into TEAMDATA_SECRET; during a
rotation add the old one, each on a line of its own. Without a secret, events
are printed as UNVERIFIED.

With --pull it needs no address: it pulls the events of an endpoint of the kind
pull, with an API key that has the scope receive. An event is acknowledged once
it was answered with a 2xx, by the application of --forward if there is one, and
else given back with the answer as the reason. It reconnects by itself.

With --count it exits with 0 after that many verified events, including
repeated ones, and with 1 if they don't arrive within --timeout. It exits with 1
if it can't go on, such as with a revoked key, and with 2 if a setting is wrong.`,
		Example: `  teamdata listen --secret-file hook.secret
  teamdata listen --secret-file hook.secret --forward http://127.0.0.1:3000/hook
  teamdata listen --secret-file hook.secret --status 503 --delay 2s    # it is sent again
  teamdata listen --secret-file - --json --count 3 --timeout 1m < hook.secret
  teamdata listen --http --listen 127.0.0.1:9080                       # behind a tunnel
  teamdata listen --pull https://data.example.com/pull/whe_1 --key-file pull.key --secret-file hook.secret --forward http://localhost:3000/hook`,
		// What is wrong here, only another command line helps; see the statuses in cli.
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			secrets, texts, err := s.secrets(cmd.InOrStdin())
			if err == nil {
				err = s.check(cmd.Flags(), texts)
			}
			if err == nil {
				l, err = s.prepare(secrets, texts, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if l.pulling != nil {
				l.introduce()
				return l.pull(cmd.Context())
			}
			if err := l.open(); err != nil {
				return err
			}
			return l.run(cmd.Context())
		},
	}
	s.bind(cmd.Flags())
	return cmd
}

func (s *settings) bind(f *pflag.FlagSet) {
	f.StringVar(&s.Listen, "listen", defaultReceiver, "`host:port` to listen on; port 0 takes a free one")
	f.StringVar(&s.SecretFile, "secret-file", "", "a `file` with the endpoint's secret, or with several, one a line; - is the standard input")
	f.StringVar(&s.TLSDir, "tls-dir", "", "the `folder` that keeps the local CA; default: teamdata/listen in your configuration folder")
	f.StringVar(&s.TLSCert, "tls-cert", "", "a PEM `file` with a certificate of your own and its chain")
	f.StringVar(&s.TLSKey, "tls-key", "", "a PEM `file` with the private key of --tls-cert")
	f.BoolVar(&s.HTTP, "http", false, "plain HTTP, for use behind a tunnel or a proxy")
	f.IntVar(&s.Status, "status", defaultStatus, "the `status` to answer events with, 200 to 599")
	f.DurationVar(&s.Delay, "delay", 0, "how long to wait before an event is answered, at most 10m")
	f.StringVar(&s.Forward, "forward", "", "the `URL` of an application to pass each event on to, unchanged; its status is the answer")
	f.IntVar(&s.Count, "count", 0, "end after this `number` of verified events; 0 for never")
	f.DurationVar(&s.Timeout, "timeout", 0, "how long the events of --count may take; 0 for as long as it takes")
	f.BoolVar(&s.JSON, "json", false, "print each event as one line of JSON")
	f.StringVar(&s.Pull, "pull", "", "the `URL` of an endpoint to pull events from, instead of receiving them")
	f.StringVar(&s.KeyFile, "key-file", "", "a `file` with the API key for --pull")
	f.StringVar(&s.CAFile, "ca-file", "", "a PEM `file` with a CA to trust for --pull, in addition to the system's")
	f.StringVar(&s.ReadyFile, "ready-file", "", "a `file` to write once it listens, with its URL; - is the standard output")
}

const (
	defaultReceiver = "127.0.0.1:9000"
	defaultStatus   = 204
	maxDelay        = 10 * time.Minute
)

func (s *settings) check(f *pflag.FlagSet, secrets []string) error {
	switch {
	case s.Status < 200 || s.Status > 599:
		return errors.New("--status must be 200 to 599, such as 204 or 503")
	case s.Delay < 0 || s.Delay > maxDelay:
		return fmt.Errorf("--delay must be 0s to %s, such as 2s", maxDelay)
	case s.Forward != "" && f.Changed("status"):
		return hint.New("--status and --forward both say the answer", "leave one out")
	case s.Count < 0:
		return errors.New("--count must be 0 (no end) or more")
	case s.Count > 0 && len(secrets) == 0:
		return hint.New("--count counts verified events, and there is no secret to verify them with", "give one with --secret-file")
	case s.Timeout < 0 || s.Timeout > 0 && s.Count == 0:
		return errors.New("--timeout is how long the events of --count may take, such as --count 3 --timeout 1m")
	case (s.TLSCert == "") != (s.TLSKey == ""):
		return hint.New("--tls-cert and --tls-key go together", "give both, or neither for the local CA")
	case s.HTTP && (s.TLSCert != "" || s.TLSDir != ""):
		return hint.New("--http means no TLS", "leave out --http, or --tls-cert, --tls-key and --tls-dir")
	case s.TLSCert != "" && s.TLSDir != "":
		return hint.New("--tls-dir keeps the local CA, which --tls-cert replaces", "leave one out")
	}
	if err := s.checkPull(f, secrets); err != nil {
		return err
	}
	return app.CheckAddress("--listen", s.Listen, defaultReceiver)
}

// secretVariable names the environment variable with the secrets, used if no flag
// names a file.
const secretVariable = "TEAMDATA_SECRET"

// maxSecretFile is room for hundreds of secrets.
const maxSecretFile = 64 << 10

// secrets returns the secrets in the flag's file or, without the flag, in the
// environment, parsed and as they stand there. There is no flag for a secret itself: others
// could see it.
func (s *settings) secrets(in io.Reader) (receiver.Secrets, []string, error) {
	text, given := os.LookupEnv(secretVariable)
	from := secretVariable + " in the environment"
	if s.SecretFile != "" {
		from, given = "--secret-file "+s.SecretFile, true
		content, err := readSecretFile(s.SecretFile, in)
		if err != nil {
			return nil, nil, hint.With(fmt.Errorf("--secret-file: %w", err), "give the path of a file with the endpoint's secret, or - for the standard input")
		}
		text = string(content)
	}
	if !given {
		return nil, nil, nil
	}
	secrets, err := receiver.ParseSecrets(text)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", from, err)
	}
	return secrets, strings.Fields(text), nil
}

func readSecretFile(path string, in io.Reader) ([]byte, error) {
	if path != "-" {
		return smallfile.Read(path)
	}
	return io.ReadAll(io.LimitReader(in, maxSecretFile))
}
