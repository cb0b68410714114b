package app

import (
	"fmt"
	"net"

	settingspage "teamdata/admin/settings"
	"teamdata/server"
)

// publicURL is where people reach the server: at --public-url, at the first
// --domain, or else where it listens.
func (a *Appliance) publicURL() string {
	s := &a.settings
	switch {
	case s.PublicURL != "":
		return s.PublicURL
	case len(s.Domains) > 0:
		return "https://" + s.Domains[0] + a.publicPort()
	}
	return a.Base()
}

// publicPort is behind a domain's name; empty for 443, where the CA looks for the
// server unless it is asked to use http-01.
func (a *Appliance) publicPort() string {
	tcp, ok := a.listener.Addr().(*net.TCPAddr)
	if !ok || tcp.Port == 443 || a.settings.ACMEHTTP == "" {
		return ""
	}
	return fmt.Sprintf(":%d", tcp.Port)
}

// SettingsURL is where the settings page is.
func (a *Appliance) SettingsURL() string { return a.publicURL() + settingspage.Path }

// settingsMount is the settings page of the data file.
func (a *Appliance) settingsMount() server.Mount {
	c := settingspage.Config{PublicURL: a.publicURL(), Version: a.settings.Version, Log: a.log}
	if a.settings.SMTPURL != "" {
		c.Mailed = func() { a.mailer.Wake() }
	}
	return server.Mount{Path: settingspage.Path, Handler: settingspage.New(a.store, c)}
}
