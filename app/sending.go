package app

import (
	"context"
	"crypto/x509"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery"
	"teamdata/delivery/egress"
	"teamdata/delivery/mail"
	"teamdata/internal/netguard"
	"teamdata/store"
)

// wireSending creates the senders of webhooks and mail.
func (a *App) wireSending() error {
	allow, err := netguard.ParseCIDRs(a.settings.AllowEndpointCIDR)
	if err != nil {
		return fmt.Errorf("--allow-endpoint-cidr: %w", err)
	}
	if a.settings.Clock != nil {
		allow = append(allow, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	if a.mailer, err = a.newMailer(); err != nil {
		return err
	}
	proxy, err := a.settings.NewEgressProxy(a.files.proxyCA, a.certificateTime(), &a.log)
	if err != nil {
		return err
	}
	if a.settings.EgressResolves {
		a.log.Warn().Msg(ResolvesWarning)
	}
	a.guard = netguard.New(netguard.Config{Allow: allow, Own: a.ownAddresses})
	a.dispatcher = delivery.New(a.store, delivery.Config{
		Schedule: a.settings.RetrySchedule, AttemptTimeout: a.settings.AttemptTimeout, Now: a.now, HTTPOnLoopback: a.settings.Clock != nil,
		RootCAs: a.files.webhookCA, Control: a.guard.Control, Proxy: proxy, UserAgent: "teamdata/" + a.settings.Version,
		Mailed: a.mailer.Wake, Pulled: a.server.Due, Log: &a.log, CertificateTime: a.certificateTime(), ClockInDoubt: a.clockInDoubt,
	})
	return nil
}

// ResolvesWarning is what --egress-proxy-resolves means for the guard of addresses.
const ResolvesWarning = "with --egress-proxy-resolves the proxy decides which addresses webhooks reach: " +
	"the server can't refuse an internal address that the name of a receiver leads to, so the proxy has to"

// NewEgressProxy returns the proxy of --egress-proxy, nil if there is none. An error names
// the flag, and never the password.
func (s *Settings) NewEgressProxy(roots *x509.CertPool, now func() time.Time, log *zerolog.Logger) (*egress.Proxy, error) {
	if s.EgressProxy == "" {
		return nil, nil
	}
	step := max(s.AttemptTimeout/5, egress.DefaultStep)
	p, err := egress.New(egress.Config{
		URL: s.EgressProxy, RootCAs: roots, Except: s.EgressProxyExcept, Resolves: s.EgressResolves, Step: step, Time: now, Log: log,
	})
	if err != nil {
		return nil, SettingError{err}
	}
	return p, nil
}

// certificateTime is the clock that others' certificates are verified by: that of the
// data, which all nodes have in common, unless a test moves it.
func (a *App) certificateTime() func() time.Time {
	if a.settings.Clock != nil {
		return nil
	}
	return a.store.Now
}

// clockInDoubt reports whether this machine's clock or the data's is wrong.
func (a *App) clockInDoubt() bool { return a.store.ClockOffset().Abs() > store.MaxClockOffset }

func (a *App) warnOfURL(url string) string { return a.guard.Warn(url) }

// ownAddresses returns the addresses of our own listeners, to which no webhook
// may be sent.
func (a *App) ownAddresses() (own []netip.AddrPort) {
	for _, l := range []net.Listener{a.listener, a.challenges.listener, a.metrics.listener, a.localhost[0].listener, a.localhost[1].listener} {
		if l == nil {
			continue
		}
		if tcp, ok := l.Addr().(*net.TCPAddr); ok {
			own = append(own, tcp.AddrPort())
		}
	}
	return own
}

func (a *App) newMailer() (*delivery.Mailer, error) {
	if a.settings.SMTPURL == "" {
		return delivery.NewMailer(a.store, nil, nil, a.now, &a.log), nil
	}
	sender, err := mail.New(mail.Config{
		URL: a.settings.SMTPURL, From: a.settings.MailFrom, RootCAs: a.files.smtpCA, Time: a.certificateTime(),
		SettingsURL: a.SettingsURL(),
	})
	if err != nil {
		return nil, err
	}
	return delivery.NewMailer(a.store, sender, a.settings.MailRetrySchedule, a.now, &a.log), nil
}

// mailEvery is how often the node that sends the mail looks for what others queued.
const mailEvery = 2 * time.Second

// mailJobs send mail.
func (a *App) mailJobs(grace context.Context) []job {
	list := []job{{do: func(ctx context.Context) error { a.mailer.Run(ctx, grace); return nil }}}
	if a.shared() && a.settings.SMTPURL != "" {
		list = append(list, job{first: mailEvery, pause: mailEvery, do: func(context.Context) error { a.mailer.Wake(); return nil }})
	}
	return list
}
