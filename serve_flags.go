package main

import (
	"time"

	"github.com/spf13/pflag"

	"teamdata/app"
	"teamdata/delivery"
	"teamdata/server"
	"teamdata/server/certificates"
	"teamdata/store"
)

// bindSettings makes the flags of serve.
func bindSettings(f *pflag.FlagSet, s *app.Settings) {
	s.Version = version()
	f.StringVar(&s.Data, "data", app.DefaultData, "the data `file`; it is made if it is not there")
	f.StringVar(&s.SealKeyFile, "seal-key-file", "", "a `file` with a key that seals the webhook secrets, private keys and password hashes in the data file; made with: openssl rand -base64 32 > FILE")
	f.StringVar(&s.Listen, "listen", app.DefaultListen, "`host:port` to listen on, port 0 takes a free one; or unix:/path for a Unix socket")
	f.BoolVar(&s.HTTP, "http", false, "plain HTTP, for use behind a proxy or in tests")
	bindTLS(f, s)
	bindObserving(f, s)
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

// bindTLS makes the flags about the certificate.
func bindTLS(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.TLSCert, "tls-cert", "", "a PEM `file` with the certificate to serve with, and its chain; read again when it changes, and on SIGHUP")
	f.StringVar(&s.TLSKey, "tls-key", "", "a PEM `file` with the private key of --tls-cert")
	f.StringSliceVar(&s.Domains, "domain", nil, "a `name` of this server to get a certificate for, by ACME")
	f.BoolVar(&s.ACMEAcceptTerms, "acme-accept-terms", false, "accept the terms of the ACME authority; Let's Encrypt's are at "+app.LetsEncryptTerms)
	f.StringVar(&s.ACMEEmail, "acme-email", "", "an `address` that the ACME authority may write to")
	f.StringVar(&s.ACMEHTTP, "acme-http", "", "`host:port` to answer the ACME authority on over plain HTTP, which it reaches as port 80 of the domains; others are sent to HTTPS")
	f.StringVar(&s.ACMEDirectory, "acme-directory", certificates.LetsEncrypt, "the `URL` of the ACME authority's directory")
	f.StringVar(&s.ACMECA, "acme-ca", "", "a PEM `file` with CAs of the ACME authority's own server, to trust beside the system's")
}

// bindObserving makes the flags for those who look after the appliance.
func bindObserving(f *pflag.FlagSet, s *app.Settings) {
	f.StringVar(&s.Metrics, "metrics", "", "`host:port` on which GET /metrics is answered for Prometheus, to anyone; default: on the admin socket alone")
	f.StringVar(&s.AccessLog, "access-log", string(server.LogErrors), "which requests are logged: all, errors (those answered 400 or more, without those that a limit refused), off")
	f.IntVar(&s.AccessLogSample, "access-log-sample", 1, "log one in `N` of these requests, and all that are answered 500 or more")
}
