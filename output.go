package main

import (
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"github.com/rs/zerolog"
)

// newLog writes text for people on a terminal and JSON for everything else, to
// stderr.
func newLog(level zerolog.Level) zerolog.Logger {
	// net/http tells the standard log what receivers do out of turn, in bytes that
	// they choose. What matters of it is kept with the attempt.
	log.SetOutput(io.Discard)
	var out io.Writer = os.Stderr
	if isTerminal(os.Stderr) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// announce says where the appliance is and what to do next: in words on a
// terminal, else as one line of the log.
func (a *appliance) announce() {
	if !isTerminal(os.Stdout) {
		a.log.Info().Str("url", a.url()).Str("data", a.settings.Data).Str("caFile", a.caFile).Str("version", version()).Msg("serving")
		return
	}
	fmt.Printf("teamdata %s\n\n  API        %s/api/v1\n  data file  %s\n  TLS        %s\n\n", version(), a.url(), a.settings.Data, a.tlsMode())
	fmt.Printf("Try it with a key of your org:\n\n  curl %s-H 'Authorization: Bearer <id>.<secret>' %s/api/v1/members\n\n", a.curlTrust(), a.url())
	fmt.Print("Stop with Ctrl-C.\n\n")
}

func (a *appliance) tlsMode() string {
	if a.tls == nil {
		return "none (--http): put a proxy with TLS in front, or use it on this machine only"
	}
	return "local CA; clients trust it with " + a.caFile
}

// curlTrust are the words that make curl trust the server.
func (a *appliance) curlTrust() string {
	if a.caFile == "" {
		return ""
	}
	return "--cacert " + shellWord(a.caFile) + " "
}
