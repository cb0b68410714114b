package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"teamdata/delivery"
	"teamdata/server"
	"teamdata/store"
)

// settings are the flags of serve.
type settings struct {
	Data        string
	SealKeyFile string
	Listen      string
	HTTP        bool
	Socket      string
	Seed        string
	ReadyFile   string
	Demo        bool

	TrustedProxies    []string
	ProxyProtocol     bool
	MaxConns          int
	MaxConnsPerClient int

	KeyRate    int
	ClientRate int

	RetrySchedule     []time.Duration
	AttemptTimeout    time.Duration
	WebhookCA         string
	AllowEndpointCIDR []string
	DeliveryRetention time.Duration

	SMTPURL   string
	SMTPCA    string
	MailFrom  string
	PublicURL string

	OperatorMail string

	BackupDir   string
	BackupEvery time.Duration
	BackupKeep  int

	MailRetrySchedule []time.Duration

	tlsSettings
	observeSettings
}

func serveCommand() *cobra.Command {
	var s settings
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the appliance",
		Long: `Serve answers the Team Data API over HTTPS and sends webhooks until it gets
an interrupt or a SIGTERM. Without any flag it keeps its data in ./teamdata.db
and listens on the loopback address, with a certificate of its own: the CA to
trust is written beside the data file.`,
		Example: `  teamdata serve --demo
  teamdata serve --seed org.json
  teamdata serve --data /var/lib/teamdata/teamdata.db --listen 0.0.0.0:8443
  TEAMDATA_LISTEN=127.0.0.1:8080 teamdata serve --http     # behind a proxy`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := s.check(); err != nil {
				return err
			}
			if s.Demo {
				return serveDemo(cmd.Context(), s, cmd.OutOrStdout(), newLog(zerolog.WarnLevel))
			}
			return serve(cmd.Context(), s, newLog(zerolog.InfoLevel))
		},
	}
	s.bind(cmd)
	return cmd
}

func (s *settings) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&s.Data, "data", defaultData, "the data `file`; it is made if it is not there")
	f.StringVar(&s.SealKeyFile, "seal-key-file", "", "a `file` with a key that seals the webhook secrets, private keys and password hashes in the data file; made with: openssl rand -base64 32 > FILE")
	f.StringVar(&s.Listen, "listen", defaultListen, "`host:port` to listen on, port 0 takes a free one; or unix:/path for a Unix socket")
	f.BoolVar(&s.HTTP, "http", false, "plain HTTP, for use behind a proxy or in tests")
	s.tlsSettings.bind(f)
	s.observeSettings.bind(f)
	f.StringVar(&s.Socket, "socket", "", "the Unix `socket` of the admin API; default: the data file's path with .sock behind it")
	f.StringVar(&s.Seed, "seed", "", "a fixture `file` that fills a data file that holds no org yet")
	f.StringVar(&s.ReadyFile, "ready-file", "", "a `file` that is written once the server listens, with its URL")
	f.BoolVar(&s.Demo, "demo", false, "serve an example org from a temporary file, with a receiver that shows its events")
	f.StringSliceVar(&s.TrustedProxies, "trusted-proxies", nil, "`addresses` of proxies whose Forwarded or X-Forwarded-For says who the client is: CIDRs, loopback, private")
	f.BoolVar(&s.ProxyProtocol, "proxy-protocol", false, "let in --trusted-proxies alone, and read a header of the PROXY protocol, version 1 or 2, from each connection")
	f.IntVar(&s.MaxConns, "max-conns", server.DefaultMaxConns, "connections that may be open at once; 0 for no limit")
	f.IntVar(&s.MaxConnsPerClient, "max-conns-per-client", server.DefaultMaxClientConns, "connections that a client's address may have open at once, other than --trusted-proxies; 0 for no limit")
	f.IntVar(&s.KeyRate, "key-rate", server.DefaultKeyRate, "requests a minute that an API key may make; 0 for no limit")
	f.IntVar(&s.ClientRate, "client-rate", server.DefaultClientRate, "requests a minute that a client's address may make; 0 for no limit")
	f.DurationSliceVar(&s.RetrySchedule, "retry-schedule", store.DefaultRetrySchedule, "how long after each failed attempt the next is made")
	f.DurationVar(&s.AttemptTimeout, "attempt-timeout", delivery.DefaultAttemptTimeout, "how long a receiver may take to answer")
	f.StringVar(&s.WebhookCA, "webhook-ca", "", "a PEM `file` with CAs of receivers, to trust beside the system's")
	f.StringSliceVar(&s.AllowEndpointCIDR, "allow-endpoint-cidr", nil, "addresses outside the public internet that endpoints may have, such as 10.0.0.0/8")
	f.DurationVar(&s.DeliveryRetention, "delivery-retention", store.DefaultDeliveryRetention, "how long finished deliveries and their events are kept")
	f.StringVar(&s.SMTPURL, "smtp-url", "", "the mail server, smtp://user:password@host:port (STARTTLS) or smtps://… (TLS from the start); better in TEAMDATA_SMTP_URL or TEAMDATA_SMTP_URL_FILE")
	f.StringVar(&s.SMTPCA, "smtp-ca", "", "a PEM `file` with CAs of the mail server, to trust beside the system's")
	f.StringVar(&s.MailFrom, "mail-from", "", "the `address` that mail comes from")
	f.DurationSliceVar(&s.MailRetrySchedule, "mail-retry-schedule", store.DefaultMailSchedule, "how long after each failed try a mail is tried again; the last counts for every later one, for three days")
	f.StringVar(&s.OperatorMail, "operator-mail", "", "the `address` that is told of a certificate which is not renewed in time")
	f.StringVar(&s.PublicURL, "public-url", "", "the `URL` at which people reach the server, for sign-in links, passkeys and mail; default: that of the first --domain, or of the listener")
	f.StringVar(&s.BackupDir, "backup-dir", "", "a `folder` of its own for backups that are made while it serves; it is made if it is not there")
	f.DurationVar(&s.BackupEvery, "backup-every", 24*time.Hour, "how long after each backup the next is made")
	f.IntVar(&s.BackupKeep, "backup-keep", 7, "how many backups are kept, the newest ones")
	secret(f, "smtp-url")
}

const (
	defaultData   = "./teamdata.db"
	defaultListen = "127.0.0.1:8443"
)

func (s *settings) check() error {
	switch {
	case s.KeyRate < 0:
		return errors.New("--key-rate is 0 (no limit) or more")
	case s.ClientRate < 0:
		return errors.New("--client-rate is 0 (no limit) or more")
	case s.AttemptTimeout <= 0:
		return errors.New("--attempt-timeout is longer than 0, such as 15s")
	case s.DeliveryRetention <= 0:
		return errors.New("--delivery-retention is longer than 0, such as 720h")
	case s.BackupEvery < time.Minute:
		return errors.New("--backup-every is 1m or more, such as 24h")
	case s.BackupKeep < 1:
		return errors.New("--backup-keep is 1 or more")
	}
	if hasNonPositive(s.RetrySchedule) {
		return errors.New("--retry-schedule holds times longer than 0, such as 1m,5m,25m,125m,625m")
	}
	if hasNonPositive(s.MailRetrySchedule) {
		return errors.New("--mail-retry-schedule holds times longer than 0, such as 1m,5m,25m,2h")
	}
	if err := s.checkMail(); err != nil {
		return err
	}
	if err := s.checkTLS(); err != nil {
		return err
	}
	if err := s.observeSettings.check(); err != nil {
		return err
	}
	return s.checkListen()
}

func hasNonPositive(times []time.Duration) bool {
	return slices.ContainsFunc(times, func(d time.Duration) bool { return d <= 0 })
}

// serve runs the appliance until ctx is done.
func serve(ctx context.Context, s settings, log zerolog.Logger) error {
	warnOfUnknownNames(log)
	a, err := start(ctx, s, log)
	if err != nil {
		return err
	}
	a.announce()
	return a.run(ctx)
}
