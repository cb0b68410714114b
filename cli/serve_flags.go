package cli

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"teamdata/app"
)

// serveGroups are the flags of serve as its help shows them.
var serveGroups = []struct {
	title string
	bind  func(*pflag.FlagSet, *app.Settings)
}{
	{"Listening", bindListening},
	{"TLS", bindTLS},
	{"Data", bindData},
	{"Webhooks", bindWebhooks},
	{"Mail", bindMail},
	{"Settings page", bindSettingsPage},
	{"Limits", bindLimits},
	{"Observing", bindObserving},
}

// groupOf is the annotation of a flag that names its group.
const groupOf = "group"

// bindSettings makes the flags of serve.
func bindSettings(f *pflag.FlagSet, s *app.Settings) {
	*s = app.Defaults()
	for _, g := range serveGroups {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		g.bind(flags, s)
		flags.VisitAll(func(flag *pflag.Flag) {
			flag.Annotations = map[string][]string{groupOf: {g.title}}
			f.AddFlag(flag)
		})
	}
	secret(f, "smtp-url")
}

// flagUsages are the flags of a command as its help and its manual page show them:
// those in groups first, each group below its title, then the others.
func flagUsages(f *pflag.FlagSet, columns int) (text string) {
	groups := map[string]*pflag.FlagSet{}
	others := pflag.NewFlagSet("", pflag.ContinueOnError)
	f.VisitAll(func(flag *pflag.Flag) {
		title := flag.Annotations[groupOf]
		if title == nil {
			others.AddFlag(flag)
			return
		}
		if groups[title[0]] == nil {
			groups[title[0]] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[title[0]].SortFlags = false
		}
		groups[title[0]].AddFlag(flag)
	})
	if len(groups) == 0 {
		return others.FlagUsagesWrapped(columns)
	}
	for _, g := range serveGroups {
		if flags := groups[g.title]; flags != nil {
			text += " " + g.title + ":\n" + flags.FlagUsagesWrapped(columns) + "\n"
		}
	}
	return text + " Other:\n" + others.FlagUsagesWrapped(columns)
}

// groupFlags lets the help of all commands show flags in their groups.
func groupFlags(root *cobra.Command) {
	cobra.AddTemplateFunc("flagUsages", func(f *pflag.FlagSet) string { return flagUsages(f, 0) })
	root.SetUsageTemplate(strings.ReplaceAll(root.UsageTemplate(), ".LocalFlags.FlagUsages", "flagUsages .LocalFlags"))
}

func bindListening(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.Listen, "listen", s.Listen, "`host:port` to listen on, port 0 takes a free one; or unix:/path for a Unix socket")
	f.BoolVar(&s.HTTP, "http", s.HTTP, "plain HTTP, for use behind a proxy or in tests")
	f.StringVar(&s.Socket, "socket", s.Socket, "the Unix `socket` of the admin API; default: the data file's path with .sock behind it, or teamdata.sock in --state-dir")
	f.StringVar(&s.PublicURL, "public-url", s.PublicURL, "the `URL` at which people reach the server, without a path, for sign-in links, passkeys and mail; default: that of the first --domain, or of the listener")
	f.StringSliceVar(&s.TrustedProxies, "trusted-proxies", s.TrustedProxies, "`addresses` of proxies whose Forwarded or X-Forwarded-For says who the client is: CIDRs, loopback, private")
	f.BoolVar(&s.ProxyProtocol, "proxy-protocol", s.ProxyProtocol, "let in --trusted-proxies alone, and read a header of the PROXY protocol, version 1 or 2, from each connection")
	f.StringVar(&s.ReadyFile, "ready-file", s.ReadyFile, "a `file` that is written once the server listens, with its URL; - is the standard output")
}

func bindTLS(f *pflag.FlagSet, s *app.Settings) {
	f.StringSliceVar(&s.Domains, "domain", s.Domains, "a `name` of this server to get a certificate for, by ACME")
	f.BoolVar(&s.ACMEAcceptTerms, "acme-accept-terms", s.ACMEAcceptTerms, "accept the terms of the ACME authority; Let's Encrypt's are at "+app.LetsEncryptTerms)
	f.StringVar(&s.ACMEEmail, "acme-email", s.ACMEEmail, "an `address` that the ACME authority may write to")
	f.StringVar(&s.ACMEHTTP, "acme-http", s.ACMEHTTP, "`host:port` to answer the ACME authority on over plain HTTP, which it reaches as port 80 of the domains; others are sent to HTTPS")
	f.StringSliceVar(&s.ACMEDirectories, "acme-directory", s.ACMEDirectories, "the `URL` of the ACME authority's directory; given twice, the second authority is asked while the first is down or limits this server")
	f.StringVar(&s.ACMECA, "acme-ca", s.ACMECA, "a PEM `file` with CAs of the ACME authority's own server, to trust beside the system's")
	f.StringVar(&s.TLSCert, "tls-cert", s.TLSCert, "a PEM `file` with the certificate to serve with, and its chain; read again when it changes, and on SIGHUP")
	f.StringVar(&s.TLSKey, "tls-key", s.TLSKey, "a PEM `file` with the private key of --tls-cert")
}

func bindData(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.Data, "data", s.Data, "the data `file`, which is made if it is not there; or postgres://… for a PostgreSQL database, with a password in TEAMDATA_DATA_FILE or PGPASSFILE")
	f.StringVar(&s.StateDir, "state-dir", s.StateDir, "the `folder` for the admin socket and the certificate of the local CA when --data is a database; default: the working directory")
	f.StringVar(&s.Node, "node", s.Node, "the `name` of this server among those on the database, which no other one has; a restart with the same name takes over at once; default: the host's name and a random part")
	f.StringVar(&s.SealKeyFile, "seal-key-file", s.SealKeyFile, "a `file` with a key that seals the webhook secrets, private keys and password hashes in the data file; made with: openssl rand -base64 32 > FILE")
	f.StringVar(&s.Seed, "seed", s.Seed, "a fixture `file` that fills a data file or database that holds no org yet")
	f.BoolVar(&s.Demo, "demo", s.Demo, "serve an example org from a temporary file, with a receiver that shows its events")
	f.VarPF(testClock{&s.Clock}, "test-clock", "", "for tests on this machine: lets the admin API move the clock forward and reset the data, and endpoints have http:// URLs of this machine").NoOptDefVal = "true"
	f.StringVar(&s.BackupDir, "backup-dir", s.BackupDir, "a `folder` of its own for backups that are made while it serves; it is made if it is not there")
	f.DurationVar(&s.BackupEvery, "backup-every", s.BackupEvery, "how long after each backup the next is made")
	f.IntVar(&s.BackupKeep, "backup-keep", s.BackupKeep, "how many backups are kept, the newest ones")
	f.DurationVar(&s.DeliveryRetention, "delivery-retention", s.DeliveryRetention, "how long finished deliveries and their events are kept")
	f.DurationVar(&s.HeldRetention, "held-retention", s.HeldRetention, "how long deliveries of a disabled endpoint are held; then they are dropped, never sent")
}

// testClock is the value of --test-clock, a switch.
type testClock struct{ clock **app.TestClock }

func (t testClock) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if *t.clock = nil; on {
		*t.clock = app.NewTestClock()
	}
	return err
}

func (t testClock) String() string { return strconv.FormatBool(t.clock != nil && *t.clock != nil) }

func (testClock) Type() string { return "bool" }

func bindWebhooks(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.WebhookCA, "webhook-ca", s.WebhookCA, "a PEM `file` with CAs of receivers, to trust beside the system's")
	f.StringSliceVar(&s.AllowEndpointCIDR, "allow-endpoint-cidr", s.AllowEndpointCIDR, "addresses outside the public internet that endpoints may have, such as 10.0.0.0/8; cloud metadata only in a range no wider than /24")
	f.DurationSliceVar(&s.RetrySchedule, "retry-schedule", s.RetrySchedule, "how long after each failed attempt the next is made")
	f.DurationVar(&s.AttemptTimeout, "attempt-timeout", s.AttemptTimeout, "how long a receiver may take to answer")
}

func bindMail(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.SMTPURL, "smtp-url", s.SMTPURL, "the mail server, smtp://user:password@host:port (STARTTLS) or smtps://… (TLS from the start); better in TEAMDATA_SMTP_URL or TEAMDATA_SMTP_URL_FILE")
	f.StringVar(&s.SMTPCA, "smtp-ca", s.SMTPCA, "a PEM `file` with CAs of the mail server, to trust beside the system's")
	f.StringVar(&s.MailFrom, "mail-from", s.MailFrom, "the `address` that mail comes from")
	f.DurationSliceVar(&s.MailRetrySchedule, "mail-retry-schedule", s.MailRetrySchedule, "how long after each failed try a mail is tried again; the last counts for every later one, for three days")
	f.StringVar(&s.OperatorMail, "operator-mail", s.OperatorMail, "the `address` that is told of a certificate which is not renewed in time")
}

func bindSettingsPage(f *pflag.FlagSet, s *app.Settings) {
	f.StringSliceVar(&s.FrameAncestors, "frame-ancestors", s.FrameAncestors, "the `origins` of sites that may show the page in a frame to people who came through a portal link, such as https://app.example; or self")
	f.StringVar(&s.BrandName, "brand-name", s.BrandName, "the `name` that the page has in place of teamdata")
	f.StringVar(&s.BrandColour, "brand-colour", s.BrandColour, "the `colour` of links and buttons, such as #0a7d5a; made lighter or darker where text would be hard to read")
	f.StringVar(&s.BrandLogo, "brand-logo", s.BrandLogo, "an SVG or PNG `file` of at most 16 KiB, which the page shows before the name")
}

func bindLimits(f *pflag.FlagSet, s *app.Settings) {
	f.IntVar(&s.KeyRate, "key-rate", s.KeyRate, "requests a minute that an API key may make; 0 for no limit")
	f.IntVar(&s.ClientRate, "client-rate", s.ClientRate, "requests a minute that a client's address may make; 0 for no limit")
	f.IntVar(&s.MaxConns, "max-conns", s.MaxConns, "connections that may be open at once; 0 for no limit")
	f.IntVar(&s.MaxConnsPerClient, "max-conns-per-client", s.MaxConnsPerClient, "connections that a client's address may have open at once, other than --trusted-proxies; 0 for no limit")
	f.StringVar(&s.MemoryLimit, "memory-limit", s.MemoryLimit, "the memory that the server stays below, as far as its data permits: `bytes` such as 512MiB, or a share of what its control group or the machine has")
}

func bindObserving(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.Metrics, "metrics", s.Metrics, "`host:port` on which GET /metrics is answered for Prometheus, to anyone; default: on the admin socket alone")
	f.StringVar(&s.AccessLog, "access-log", s.AccessLog, "which requests are logged: all, errors (those answered 400 or more, without those that a limit refused), off")
	f.IntVar(&s.AccessLogSample, "access-log-sample", s.AccessLogSample, "log one in `N` of these requests, and all that are answered 500 or more")
}
