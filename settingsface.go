package main

import (
	"cmp"

	settingspage "teamdata/admin/settings"
	"teamdata/server"
)

// publicURL is where people reach the server.
func (a *appliance) publicURL() string { return cmp.Or(a.settings.PublicURL, a.base()) }

// settingsURL is where the settings page is.
func (a *appliance) settingsURL() string { return a.publicURL() + settingspage.Path }

// linkURL makes the URLs of sign-in links; nil where no public URL is known.
func linkURL(publicURL string) func(token string) string {
	if publicURL == "" {
		return nil
	}
	return func(token string) string { return settingspage.LinkURL(publicURL, token) }
}

// settingsMount is the settings page of the data file.
func (a *appliance) settingsMount() server.Mount {
	c := settingspage.Config{PublicURL: a.publicURL(), Version: version(), Log: a.log}
	if a.settings.SMTPURL != "" {
		c.Mailed = func() { a.mailer.Wake() }
	}
	return server.Mount{Path: settingspage.Path, Handler: settingspage.New(a.store, c)}
}
