package doctor

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"teamdata/app"
	"teamdata/delivery/mail"
	"teamdata/internal/httpclient"
)

// checkACME reads the directory of each ACME authority, and its clock.
func (d *doctor) checkACME(ctx context.Context) {
	switch {
	case len(d.Domains) == 0:
		d.ok("not used: there is no --domain")
		return
	case !d.Online:
		d.ok("not asked: see --online")
		return
	}
	roots, err := httpclient.Roots("--acme-ca", d.ACMECA)
	if err != nil {
		return // the check of the CA files reports it
	}
	for _, directory := range d.ACMEDirectories {
		date, err := readDirectory(ctx, directory, roots, d.Version)
		if err != nil {
			d.problem("check --acme-directory, --acme-ca and this machine's way out to the network", "%s: %v", directory, err)
			continue
		}
		d.ok("%s answers", directory)
		d.checkOffset(d.now().Sub(date))
	}
}

func (d *doctor) checkOffset(off time.Duration) {
	if off.Abs() > aheadBy {
		d.problem("set the clock, with NTP", "the clock is off by %s from the authority's", off.Round(time.Second))
	}
}

// readDirectory reads an ACME directory (RFC 8555, 7.1.1), and returns the time of
// its server.
func readDirectory(ctx context.Context, address string, roots *x509.CertPool, version string) (date time.Time, err error) {
	client := httpclient.New(roots)
	defer client.CloseIdleConnections()
	client.CheckRedirect = nil // a directory may have moved
	r, body, err := get(ctx, client, address, version)
	if err != nil {
		return date, httpclient.Cause(err)
	}
	var directory struct{ NewOrder string }
	if err := json.Unmarshal(body, &directory); err != nil || directory.NewOrder == "" {
		return date, fmt.Errorf("answered %d, and not with an ACME directory", r.StatusCode)
	}
	return http.ParseTime(r.Header.Get("Date"))
}

// checkMail logs in at the mail server, and sends nothing.
func (d *doctor) checkMail(ctx context.Context) {
	switch {
	case d.SMTPURL == "":
		d.warn("name a mail server with --smtp-url", "nobody is notified of disabled endpoints and of events that nobody pulls: there is no mail server")
		return
	case !d.Online:
		d.ok("not called: see --online")
		return
	}
	roots, err := httpclient.Roots("--smtp-ca", d.SMTPCA)
	if err != nil {
		return // the check of the CA files reports it
	}
	sender, err := mail.New(mail.Config{URL: d.SMTPURL, From: d.MailFrom, RootCAs: roots, SettingsURL: "https://localhost", Timeout: checkLimit})
	if err != nil {
		return // the check of the settings reports it, without the URL
	}
	if err := sender.LogIn(ctx); err != nil {
		d.problem("check --smtp-url, --smtp-ca and this machine's way out to the network", "%s: %v", sender.Server(), err)
		return
	}
	d.ok("%s accepts the login", sender.Server())
}

// checkEgress asks the proxy of webhooks whether it answers.
func (d *doctor) checkEgress(ctx context.Context) {
	if d.EgressProxy == "" {
		d.ok("not used: there is no --egress-proxy")
		return
	}
	if d.EgressResolves {
		d.warn("leave it out if this machine can look up the receivers' names; else let the proxy refuse all internal addresses", "%s", app.ResolvesWarning)
	}
	roots, err := httpclient.Roots("--egress-proxy-ca", d.EgressProxyCA)
	if err != nil {
		return // the check of the CA files reports it
	}
	proxy, err := d.NewEgressProxy(roots, nil, nil)
	switch {
	case err != nil: // the check of the settings reports it
	case !d.Online:
		d.ok("not called: see --online")
	default:
		defer proxy.Close()
		if err := proxy.Check(ctx); err != nil {
			d.problem("check --egress-proxy, --egress-proxy-ca and the way to the proxy", "%v", err)
			return
		}
		d.ok("%s answers", proxy.Address())
	}
}
