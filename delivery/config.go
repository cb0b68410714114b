package delivery

import (
	"crypto/x509"
	"net"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"teamdata/store"
)

// Config says how deliveries are sent. The zero value is what the contract
// says, without any address guard.
type Config struct {
	// Schedule is how long after each failed attempt the next is due. One
	// attempt more than its length is made. Default: store.DefaultRetrySchedule.
	Schedule []time.Duration
	// AttemptTimeout is how long an attempt may take from the start of dialing
	// to the status line, and to the end of the answer's first 16 KiB.
	// Default: 15 s.
	AttemptTimeout time.Duration
	// PerEndpoint and Total bound the attempts in flight, and are at least 2.
	// Half of Total is for endpoints that were not acknowledged lately.
	// Defaults: 32, 2,048.
	PerEndpoint, Total int
	// RootCAs are who may have issued a receiver's certificate; nil means the
	// system's.
	RootCAs *x509.CertPool
	// Control looks at each address, after DNS, before it is dialed.
	Control func(network, address string, c syscall.RawConn) error
	// UserAgent is sent with every attempt. Default: teamdata.
	UserAgent string
	// Mailed is called after mail was queued. Default: nobody is told.
	Mailed func()
	// resolver looks names up; nil means the system's. Tests bring their own.
	resolver *net.Resolver
	// watch is told of attempts.
	watch *watch
	// Log takes what an operator should know. Default: nothing is logged.
	Log *zerolog.Logger
}

// Defaults of Config.
const (
	DefaultAttemptTimeout = 15 * time.Second
	DefaultPerEndpoint    = 32
	DefaultTotal          = 2048
)

func (c Config) withDefaults() Config {
	if c.Schedule == nil {
		c.Schedule = store.DefaultRetrySchedule
	}
	if c.AttemptTimeout == 0 {
		c.AttemptTimeout = DefaultAttemptTimeout
	}
	if c.PerEndpoint == 0 {
		c.PerEndpoint = DefaultPerEndpoint
	}
	if c.Total == 0 {
		c.Total = DefaultTotal
	}
	if c.UserAgent == "" {
		c.UserAgent = "teamdata"
	}
	if c.Mailed == nil {
		c.Mailed = func() {}
	}
	if c.watch == nil {
		c.watch = &watch{pulse: make(chan struct{})}
	}
	if c.Log == nil {
		nop := zerolog.Nop()
		c.Log = &nop
	}
	return c
}
