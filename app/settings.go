package app

import (
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"teamdata/delivery"
	"teamdata/server"
	"teamdata/server/certificates"
	"teamdata/store"
)

// Default values of the flags.
const (
	DefaultData   = "./teamdata.db"
	DefaultListen = "127.0.0.1:8443"

	DefaultMemoryLimit = "75%"
)

// Settings are the flags of serve, which [SettingGroups] describes; 0 and "" mean what
// they mean for the flags.
type Settings struct {
	Version string     // of this build; no flag
	Clock   *TestClock // for tests; nil: the system's clock

	Data        string // path of a file, or URL of a PostgreSQL database, which may hold a password
	StateDir    string // for the socket and the CA's certificate of a server on a database; empty: the working directory
	Node        string // name of this server among those on a database; empty: the host's, and a random part
	SealKeyFile string
	Seed        string
	ReadyFile   string
	Demo        bool // on a file of its own; checked here, served by the command

	// The listeners.
	Listen            string
	HTTP              bool
	Socket            string
	PublicURL         string
	TrustedProxies    []string
	ProxyProtocol     bool
	MaxConns          int
	MaxConnsPerClient int
	MemoryLimit       string // bytes, or a share of what there is
	KeyRate           int    // requests a minute
	PullRate          int    // requests a minute
	ClientRate        int    // requests a minute

	// The certificate.
	TLSCert         string
	TLSKey          string
	Domains         []string
	ACMEAcceptTerms bool
	ACMEEmail       string
	ACMEHTTP        string
	ACMEDirectories []string // in the order in which they are asked
	ACMECA          string

	// Webhooks.
	RetrySchedule     []time.Duration
	AttemptTimeout    time.Duration
	WebhookCA         string
	AllowEndpointCIDR []string
	DeliveryRetention time.Duration
	HeldRetention     time.Duration
	OperatorOrg       string

	// Mail.
	SMTPURL           string
	SMTPCA            string
	MailFrom          string
	MailRetrySchedule []time.Duration
	OperatorMail      string

	// The settings page.
	FrameAncestors []string
	BrandName      string
	BrandColour    string
	BrandLogo      string

	BackupDir   string
	BackupEvery time.Duration
	BackupKeep  int

	Metrics         string
	AccessLog       string
	AccessLogSample int
}

// SettingGroups are the flags of serve as its help shows them, with their defaults. The
// command line, the environment, config and the table in the documentation come from here.
var SettingGroups = []struct {
	Title string
	Bind  func(*pflag.FlagSet, *Settings)
}{
	{"Listening", func(f *pflag.FlagSet, s *Settings) {
		f.StringVar(&s.Listen, "listen", DefaultListen, "`host:port` to listen on; port 0 takes a free one; or unix:/path for a Unix socket")
		f.BoolVar(&s.HTTP, "http", false, "plain HTTP, for use behind a proxy or in tests")
		f.StringVar(&s.Socket, "socket", "", "the Unix `socket` of the admin API; default: the data file's path followed by .sock, or teamdata.sock in --state-dir")
		f.StringVar(&s.PublicURL, "public-url", "", "the `URL` at which people reach the server; without a path; for sign-in links, passkeys and mail; default: that of the first --domain, or of the listener")
		f.StringSliceVar(&s.TrustedProxies, "trusted-proxies", nil, "`CIDRs` of proxies, or loopback or private; their Forwarded or X-Forwarded-For header names the client")
		f.BoolVar(&s.ProxyProtocol, "proxy-protocol", false, "expect the PROXY protocol (v1 or v2), and accept connections from --trusted-proxies only")
		f.StringVar(&s.ReadyFile, "ready-file", "", "a `file` to write once the server listens, with its URL; - is the standard output")
	}},
	{"TLS", func(f *pflag.FlagSet, s *Settings) {
		f.StringSliceVar(&s.Domains, "domain", nil, "a `name` to get a certificate for, by ACME; may be given several times")
		f.BoolVar(&s.ACMEAcceptTerms, "acme-accept-terms", false, "accept the terms of the ACME authority; those of Let's Encrypt are at "+LetsEncryptTerms)
		f.StringVar(&s.ACMEEmail, "acme-email", "", "an `address` at which the ACME authority may write to you")
		f.StringVar(&s.ACMEHTTP, "acme-http", "", "`host:port` on which to answer the ACME authority over plain HTTP; it has to be reachable as port 80 of the domains; other requests are redirected to HTTPS")
		f.StringSliceVar(&s.ACMEDirectories, "acme-directory", []string{certificates.LetsEncrypt}, "the `URL` of the ACME authority's directory; if given twice, the second authority is asked while the first is down or limits this server")
		f.StringVar(&s.ACMECA, "acme-ca", "", "a PEM `file` with CAs to trust for the ACME authority's server, in addition to the system's")
		f.StringVar(&s.TLSCert, "tls-cert", "", "a PEM `file` with the certificate and its chain; read again when it changes, and on SIGHUP")
		f.StringVar(&s.TLSKey, "tls-key", "", "a PEM `file` with the private key of --tls-cert")
	}},
	{"Data", func(f *pflag.FlagSet, s *Settings) {
		f.StringVar(&s.Data, "data", DefaultData, "the data `file`, or postgres://… for PostgreSQL; a file is created if it doesn't exist; the password of a database belongs in TEAMDATA_DATA_FILE or PGPASSFILE")
		f.StringVar(&s.StateDir, "state-dir", "", "the `folder` for the admin socket and the local CA's certificate when --data is a database; default: the working directory")
		f.StringVar(&s.Node, "node", "", "a `name` for this server that no other server on the database has; a restart with the same name takes over at once; default: the host's name and a random part")
		f.StringVar(&s.SealKeyFile, "seal-key-file", "", "a `file` with the key that seals stored secrets; these are webhook secrets, private keys and password hashes; make the file with: openssl rand -base64 32 > FILE")
		f.StringVar(&s.Seed, "seed", "", "a fixture `file` to fill a data file or database that has no org yet")
		f.BoolVar(&s.Demo, "demo", false, "serve an example org from a temporary file; with a receiver that shows its events")
		f.VarPF(clockSwitch{&s.Clock}, "test-clock", "", "for tests on this machine: the admin API can move the clock forward and reset the data, and endpoints may have http:// URLs of this machine").NoOptDefVal = "true"
		f.StringVar(&s.BackupDir, "backup-dir", "", "a `folder` for backups made while it serves; for nothing else; created if it doesn't exist")
		f.DurationVar(&s.BackupEvery, "backup-every", 24*time.Hour, "the `duration` between two backups")
		f.IntVar(&s.BackupKeep, "backup-keep", 7, "the number of `backups` to keep, the newest ones")
		f.DurationVar(&s.DeliveryRetention, "delivery-retention", store.DefaultDeliveryRetention, "how long finished deliveries and their events are kept")
		f.DurationVar(&s.HeldRetention, "held-retention", store.DefaultHeldRetention, "how long the deliveries of a disabled endpoint are held; after that they are dropped, never sent")
	}},
	{"Webhooks", func(f *pflag.FlagSet, s *Settings) {
		f.StringVar(&s.WebhookCA, "webhook-ca", "", "a PEM `file` with CAs to trust for receivers; in addition to the system's")
		f.StringSliceVar(&s.AllowEndpointCIDR, "allow-endpoint-cidr", nil, "non-public `CIDRs` that endpoints may be in; such as 10.0.0.0/8; cloud metadata addresses only in a range no wider than /24")
		f.DurationSliceVar(&s.RetrySchedule, "retry-schedule", store.DefaultRetrySchedule, "the `durations` to wait after each failed attempt")
		f.DurationVar(&s.AttemptTimeout, "attempt-timeout", delivery.DefaultAttemptTimeout, "how long a receiver may take to answer")
		f.StringVar(&s.OperatorOrg, "operator-org", "", "the `id` of the org whose endpoints may select the signals teamdata.backup.failed and teamdata.certificate.expiring")
	}},
	{"Mail", func(f *pflag.FlagSet, s *Settings) {
		f.StringVar(&s.SMTPURL, "smtp-url", "", "the `URL` of the mail server; smtp://user:password@host:port for STARTTLS, or smtps://… for TLS from the start; better given in TEAMDATA_SMTP_URL or TEAMDATA_SMTP_URL_FILE")
		f.StringVar(&s.SMTPCA, "smtp-ca", "", "a PEM `file` with CAs to trust for the mail server, in addition to the system's")
		f.StringVar(&s.MailFrom, "mail-from", "", "the `address` that mail is sent from")
		f.DurationSliceVar(&s.MailRetrySchedule, "mail-retry-schedule", store.DefaultMailSchedule, "the `durations` to wait after each failed attempt to send a mail; the last one repeats, for three days in all")
		f.StringVar(&s.OperatorMail, "operator-mail", "", "the `address` to notify of a certificate that isn't renewed in time")
	}},
	{"Settings page", func(f *pflag.FlagSet, s *Settings) {
		f.StringSliceVar(&s.FrameAncestors, "frame-ancestors", nil, "the `origins` of sites that may show the page in a frame to people who came through a portal link, such as https://app.example; or self")
		f.StringVar(&s.BrandName, "brand-name", "", "the `name` that the page shows in place of teamdata")
		f.StringVar(&s.BrandColour, "brand-colour", "", "the `colour` of links and buttons, such as #0a7d5a; made lighter or darker where text would be hard to read")
		f.StringVar(&s.BrandLogo, "brand-logo", "", "an SVG or PNG `file` of at most 16 KiB, shown before the name")
	}},
	{"Limits", func(f *pflag.FlagSet, s *Settings) {
		f.IntVar(&s.KeyRate, "key-rate", server.DefaultKeyRate, "`requests` a minute that an API key may make; 0 for no limit")
		f.IntVar(&s.PullRate, "pull-rate", server.DefaultPullRate, "`requests` a minute that an API key may make to pull; beside --key-rate, and not counted by --client-rate; 0 for no limit")
		f.IntVar(&s.ClientRate, "client-rate", server.DefaultClientRate, "`requests` a minute that a client's address may make; 0 for no limit")
		f.IntVar(&s.MaxConns, "max-conns", server.DefaultMaxConns, "`connections` that may be open at once; 0 for no limit")
		f.IntVar(&s.MaxConnsPerClient, "max-conns-per-client", server.DefaultMaxClientConns, "`connections` that a client's address may have open at once, except those of --trusted-proxies; 0 for no limit")
		f.StringVar(&s.MemoryLimit, "memory-limit", DefaultMemoryLimit, "the `memory` to stay below, as far as the data permits: bytes such as 512MiB, or a share of what the control group or the machine has")
	}},
	{"Observing", func(f *pflag.FlagSet, s *Settings) {
		f.StringVar(&s.Metrics, "metrics", "", "`host:port` for Prometheus to scrape; GET /metrics is answered there to anyone; default: only on the admin socket")
		f.StringVar(&s.AccessLog, "access-log", string(server.LogErrors), "the `kind` of requests to log: all, errors (answered 400 or more, except those that a limit refused) or off")
		f.IntVar(&s.AccessLogSample, "access-log-sample", 1, "log one in `N` of these requests, and all that are answered with 500 or more")
	}},
}

// Defaults returns the settings of serve without any flags.
func Defaults() (s Settings) {
	for _, g := range SettingGroups {
		g.Bind(pflag.NewFlagSet("", pflag.ContinueOnError), &s)
	}
	return s
}

// clockSwitch is the value of --test-clock, a switch.
type clockSwitch struct{ clock **TestClock }

func (t clockSwitch) Set(text string) error {
	on, err := strconv.ParseBool(text)
	if *t.clock = nil; on {
		*t.clock = new(TestClock)
	}
	return err
}

func (t clockSwitch) String() string { return strconv.FormatBool(t.clock != nil && *t.clock != nil) }

func (clockSwitch) Type() string { return "bool" }
