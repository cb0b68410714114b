package app

import (
	"context"
	"fmt"
	"os"
	"strings"

	"teamdata/internal/terminal"
	"teamdata/store"
)

// Announce says where the appliance is and what to do next: in words on a
// terminal, else as one line of the log.
func (a *Appliance) Announce() {
	if !terminal.Is(os.Stdout) {
		a.log.Info().Str("url", a.URL()).Str("data", a.settings.Data).Str("caFile", a.caFile).Str("tls", a.tlsMode()).Str("version", a.settings.Version).Msg("serving")
		a.logFirstLink()
		return
	}
	fmt.Printf("teamdata %s\n\n  API        %s/api/v1\n  settings   %s\n  data file  %s\n  TLS        %s\n\n", a.settings.Version, a.Base(), a.SettingsURL(), a.settings.Data, a.tlsMode())
	if !a.holdsOrg() {
		data := a.dataFlag()
		fmt.Printf("It holds no org yet. In another terminal, make one, with its owner, a key\nand a link with which the owner signs in to the settings page:\n\n  teamdata org create --name NAME%[1]s\n"+
			"  teamdata member add USER --role owner%[1]s\n  teamdata key create --scopes read --created-by USER%[1]s\n"+
			"  teamdata signin-link USER%[1]s\n\n", data)
	}
	fmt.Print(a.FirstLink())
	fmt.Printf("Try it with a key of your org:\n\n  curl %s-H 'Authorization: Bearer <id>.<secret>' %s/api/v1/members\n\n", a.CurlOptions(), a.Base())
	fmt.Print("Stop with Ctrl-C.\n\n")
}

// holdsOrg tells whether the data file holds an org, as far as it can be read.
func (a *Appliance) holdsOrg() (any bool) {
	_ = a.store.View(context.Background(), func(tx store.Tx) (err error) {
		any, err = tx.AnyOrg()
		return err
	})
	return any
}

// dataFlag is what a command needs to find the data file.
func (a *Appliance) dataFlag() string {
	if a.settings.Data == DefaultData {
		return ""
	}
	return " --data " + terminal.ShellWord(a.settings.Data)
}

func (a *Appliance) tlsMode() string {
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

// CurlOptions are the words that make curl find the server and trust it.
func (a *Appliance) CurlOptions() (options string) {
	if path, ok := strings.CutPrefix(a.URL(), UnixPrefix); ok {
		options = "--unix-socket " + terminal.ShellWord(path) + " "
	}
	if a.caFile != "" {
		options += "--cacert " + terminal.ShellWord(a.caFile) + " "
	}
	return options
}
