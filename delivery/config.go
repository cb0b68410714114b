package delivery

import (
	"cmp"
	"crypto/x509"
	"net"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"teamdata/delivery/egress"
	"teamdata/store"
)

// Config configures how deliveries are sent. The zero value follows the contract
// and sends to any address.
type Config struct {
	// Schedule is the delay after each failed attempt until the next; there is
	// one more attempt than its length. Default: store.DefaultRetrySchedule.
	Schedule []time.Duration
	// AttemptTimeout is how long an attempt may take from the start of dialing
	// to the status line. The answer's body has what is left of it, and a second
	// at most. Default: 15 s.
	AttemptTimeout time.Duration
	// PerEndpoint and Total bound the attempts in flight, and are at least 2. Up
	// to half of Total may be used by endpoints on probation, which have not
	// acknowledged lately. Defaults: 32, 2,048.
	PerEndpoint, Total int
	// RootCAs may issue receivers' certificates; nil means the system's.
	RootCAs *x509.CertPool
	// Control checks each address after DNS, before dialing. Default: all
	// addresses are allowed.
	Control func(network, address string, c syscall.RawConn) error
	// Proxy is what receivers are connected to through, except for those on plain HTTP; the
	// dispatcher closes it when it ends. Default: none, and never that of the environment.
	Proxy *egress.Proxy
	// HTTPOnLoopback lets attempts be made over plain HTTP to this machine: for tests.
	HTTPOnLoopback bool
	// UserAgent is sent with every attempt. Default: teamdata.
	UserAgent string
	// Now is the clock that decides what is due. Default: time.Now.
	Now func() time.Time
	// CertificateTime is the clock that receivers' certificates are verified by. Default:
	// the system's.
	CertificateTime func() time.Time
	// ClockInDoubt reports whether that clock may be wrong. While it does, a certificate
	// that has expired or is not yet valid says nothing of its receiver. Default: it never
	// is.
	ClockInDoubt func() bool
	// Mailed is called after mail was queued. Default: none.
	Mailed func()
	// Pulled is called with an endpoint that is pulled, or store.FirstPull for all of them,
	// when something is due there from a time on; see [store.Store.OnDue]. It must not block.
	// Default: none.
	Pulled func(endpoint uint64, at time.Time)
	// resolver resolves receivers' names; nil means the system's. Tests set their
	// own.
	resolver *net.Resolver
	// Log receives what an operator should know. Default: nothing is logged.
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
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, DefaultAttemptTimeout)
	c.PerEndpoint = cmp.Or(c.PerEndpoint, DefaultPerEndpoint)
	c.Total = cmp.Or(c.Total, DefaultTotal)
	c.UserAgent = cmp.Or(c.UserAgent, "teamdata")
	if c.Mailed == nil {
		c.Mailed = func() {}
	}
	if c.Pulled == nil {
		c.Pulled = func(uint64, time.Time) {}
	}
	if c.ClockInDoubt == nil {
		c.ClockInDoubt = func() bool { return false }
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		nop := zerolog.Nop()
		c.Log = &nop
	}
	return c
}
