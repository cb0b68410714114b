package app

import (
	"time"

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

// Settings are the flags of serve, described in its help; 0 and "" mean what they
// mean for the flags.
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

// Defaults returns the settings of serve without any flags.
func Defaults() Settings {
	return Settings{
		Data:   DefaultData,
		Listen: DefaultListen,

		MaxConns:          server.DefaultMaxConns,
		MaxConnsPerClient: server.DefaultMaxClientConns,
		MemoryLimit:       DefaultMemoryLimit,
		KeyRate:           server.DefaultKeyRate,
		ClientRate:        server.DefaultClientRate,

		ACMEDirectories: []string{certificates.LetsEncrypt},

		RetrySchedule:     store.DefaultRetrySchedule,
		AttemptTimeout:    delivery.DefaultAttemptTimeout,
		DeliveryRetention: store.DefaultDeliveryRetention,
		HeldRetention:     store.DefaultHeldRetention,
		MailRetrySchedule: store.DefaultMailSchedule,

		BackupEvery: 24 * time.Hour,
		BackupKeep:  7,

		AccessLog:       string(server.LogErrors),
		AccessLogSample: 1,
	}
}
