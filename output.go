package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
	"teamdata/terminal"
)

// newLog writes text for people on a terminal and JSON for everything else, to
// stderr.
func newLog(level zerolog.Level) zerolog.Logger {
	// net/http tells the standard log what receivers do out of turn, in bytes that
	// they choose. What matters of it is kept with the attempt.
	log.SetOutput(io.Discard)
	var out io.Writer = os.Stderr
	if terminal.Is(os.Stderr) {
		out = zerolog.ConsoleWriter{Out: os.Stderr, TimeFormat: time.TimeOnly}
	}
	return zerolog.New(out).Level(level).With().Timestamp().Logger()
}

// announce says where the appliance is and what to do next: in words on a
// terminal, else as one line of the log.
func (a *appliance) announce() {
	if !terminal.Is(os.Stdout) {
		a.log.Info().Str("url", a.url()).Str("data", a.settings.Data).Str("caFile", a.caFile).Str("tls", a.tlsMode()).Str("version", version()).Msg("serving")
		a.logFirstLink()
		return
	}
	fmt.Printf("teamdata %s\n\n  API        %s/api/v1\n  settings   %s\n  data file  %s\n  TLS        %s\n\n", version(), a.base(), a.settingsURL(), a.settings.Data, a.tlsMode())
	if !a.holdsOrg() {
		data := a.dataFlag()
		fmt.Printf("It holds no org yet. In another terminal, make one, with its owner, a key\nand a link with which the owner signs in to the settings page:\n\n  teamdata org create --name NAME%[1]s\n"+
			"  teamdata member add USER --role owner%[1]s\n  teamdata key create --scopes read --created-by USER%[1]s\n"+
			"  teamdata signin-link USER%[1]s\n\n", data)
	}
	fmt.Print(a.firstLink())
	fmt.Printf("Try it with a key of your org:\n\n  curl %s-H 'Authorization: Bearer <id>.<secret>' %s/api/v1/members\n\n", a.curlOptions(), a.base())
	fmt.Print("Stop with Ctrl-C.\n\n")
}

// holdsOrg tells whether the data file holds an org, as far as it can be read.
func (a *appliance) holdsOrg() (any bool) {
	_ = a.store.View(context.Background(), func(tx store.Tx) (err error) {
		any, err = tx.AnyOrg()
		return err
	})
	return any
}

// dataFlag is what a command needs to find the data file.
func (a *appliance) dataFlag() string {
	if a.settings.Data == defaultData {
		return ""
	}
	return " --data " + terminal.ShellWord(a.settings.Data)
}

func (a *appliance) tlsMode() string {
	if a.tls == nil {
		return "none (--http): put a proxy with TLS in front, or use it on this machine only"
	}
	switch s := &a.settings; {
	case s.TLSCert != "":
		return "the certificate in " + s.TLSCert
	case len(s.Domains) > 0:
		return "ACME, for " + strings.Join(s.Domains, ", ") + "; clients on this machine may trust " + a.caFile
	}
	return "local CA; clients trust it with " + a.caFile
}

// curlOptions are the words that make curl find the server and trust it.
func (a *appliance) curlOptions() (options string) {
	if path, ok := strings.CutPrefix(a.url(), unixPrefix); ok {
		options = "--unix-socket " + terminal.ShellWord(path) + " "
	}
	if a.caFile != "" {
		options += "--cacert " + terminal.ShellWord(a.caFile) + " "
	}
	return options
}
