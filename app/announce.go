package app

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"time"

	settingspage "teamdata/admin/settings"
	"teamdata/internal/terminal"
	"teamdata/server"
	"teamdata/store"
)

// Announce prints the server's address and what to do next: as text on a
// terminal, else as one log line.
func (a *App) Announce() {
	if !terminal.Is(os.Stdout) {
		a.log.Info().Str("url", a.URL()).Str("data", Place(a.settings.Data)).Str("caFile", a.caFile).Str("tls", a.tlsMode()).Str("version", a.settings.Version).Msg("serving")
		a.logFirstLink()
		return
	}
	fmt.Printf("teamdata %s\n\n  API        %s/api/v1\n  settings   %s\n  data       %s\n  TLS        %s\n\n", a.settings.Version, a.onLocalhost(), a.SettingsURL(), Place(a.settings.Data), a.tlsMode())
	if any, err := a.holdsOrg(); err == nil && !any {
		data := a.dataFlag()
		fmt.Printf("It has no org yet. In another terminal, create one, with its owner, a key, and\na link for the owner to sign in to the settings page:\n\n  teamdata org create --name NAME%[1]s\n"+
			"  teamdata member add USER --role owner%[1]s\n  teamdata key create --scopes read --created-by USER%[1]s\n"+
			"  teamdata signin-link USER%[1]s\n\n", data)
	}
	fmt.Print(a.FirstLink())
	fmt.Printf("Try it with a key of your org:\n\n  curl %s-H 'Authorization: Bearer <id>.<secret>' %s/api/v1/members\n\n", a.CurlOptions(), a.onLocalhost())
	fmt.Print("Stop with Ctrl-C.\n\n")
}

// holdsOrg reports whether the data file has any org.
func (a *App) holdsOrg() (any bool, err error) {
	err = a.store.View(context.Background(), func(tx store.Tx) (err error) {
		any, err = tx.AnyOrg()
		return err
	})
	return any, err
}

// dataFlag returns the flag with which a command finds the data file.
func (a *App) dataFlag() string {
	if a.settings.Data == DefaultData {
		return ""
	}
	flag := " --data " + terminal.ShellWord(Place(a.settings.Data))
	if a.settings.StateDir != "" {
		flag += " --state-dir " + terminal.ShellWord(a.settings.StateDir)
	}
	return flag
}

func (a *App) tlsMode() string {
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

// CurlOptions returns the options that make curl find and trust the server.
func (a *App) CurlOptions() (options string) {
	if path, ok := strings.CutPrefix(a.URL(), UnixPrefix); ok {
		options = "--unix-socket " + terminal.ShellWord(path) + " "
	}
	if a.caFile != "" {
		options += "--cacert " + terminal.ShellWord(a.caFile) + " "
	}
	return options
}

// firstLinkTTL is short: the link stays in a terminal's scrollback.
const firstLinkTTL = time.Hour

// FirstLink returns a text with a link for the first owner while nobody can sign
// in to the settings page yet; else "". It is for a terminal, read only by
// whoever started the server, never for the log. Storage faults are reported
// elsewhere.
func (a *App) FirstLink() string {
	var owner store.Member
	var token string
	err := a.store.Update(context.Background(), store.All, func(tx store.Tx) (err error) {
		if owner, err = store.FirstOwner(tx); err != nil {
			return err
		}
		_, token, err = store.CreateSignInLink(tx, owner.OrgID, owner.UserID, firstLinkTTL)
		return store.AuditAccount(err, tx, "", owner.UserID, store.AuditLinkCreated)
	})
	if err != nil {
		return ""
	}
	return fmt.Sprintf("Nobody can sign in to the settings page yet. Open this within an hour to choose\na password for %s:\n\n  %s\n\n", owner.UserID, settingspage.LinkURL(a.publicURL())(token))
}

// logFirstLink logs the command that makes a link like FirstLink's.
func (a *App) logFirstLink() {
	var owner store.Member
	err := a.store.View(context.Background(), func(tx store.Tx) (err error) {
		owner, err = store.FirstOwner(tx)
		return err
	})
	if err == nil {
		a.log.Info().Str("command", "teamdata signin-link "+owner.UserID+" --org "+owner.OrgID+a.dataFlag()).
			Msg("nobody can sign in to the settings page yet; make a link with this command")
	}
}

// publicURL is where people reach the server: at --public-url, at the first
// --domain, or else where it listens. On this machine that is a name, because browsers have
// no passkeys for an address.
func (a *App) publicURL() string {
	s := &a.settings
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case len(s.Domains) > 0:
		return "https://" + s.Domains[0] + a.publicPort()
	case a.localhostURL() != "":
		return a.localhostURL()
	}
	return a.onLocalhost()
}

// publicPort is the port after a domain's name; empty for 443, which the CA
// connects to unless http-01 is used.
func (a *App) publicPort() string {
	tcp, ok := a.listener.Addr().(*net.TCPAddr)
	if !ok || tcp.Port == 443 || a.settings.ACMEHTTP == "" {
		return ""
	}
	return fmt.Sprintf(":%d", tcp.Port)
}

// SettingsURL returns the address of the settings page.
func (a *App) SettingsURL() string { return a.publicURL() + settingspage.Path }

// settingsMount returns the settings page of the data file.
func (a *App) settingsMount() server.Mount {
	c := settingspage.Config{PublicURL: a.publicURL(), Version: a.settings.Version, Log: a.log, WarnOfURL: a.warnOfURL, Replaying: a.replays.Wake,
		HeldRetention: a.settings.HeldRetention, RetrySchedule: a.settings.RetrySchedule, EndpointCA: a.settings.WebhookCA,
		FrameAncestors: a.settings.FrameAncestors, Brand: a.files.brand}
	if a.publicURL() == a.Base() || a.publicURL() == a.onLocalhost() { // else people reach it in another way than by its own certificate
		c.CurlOptions = a.CurlOptions()
	}
	if a.settings.EgressProxy != "" {
		c.ProxyDown = func() bool { return a.dispatcher.ProxyDown() != nil }
	}
	if a.settings.Clock != nil {
		c.TestClock = a.now
	}
	if a.settings.SMTPURL != "" {
		c.Mailed = func() { a.mailer.Wake() }
	}
	return server.Mount{Path: settingspage.Path, Handler: settingspage.New(a.store, c)}
}
