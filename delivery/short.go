package delivery

import (
	"crypto/x509"
	"errors"
	"net"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rs/zerolog"
)

// outcomeShort means that no attempt was made, for lack of a local resource. It
// says nothing about the receiver.
const outcomeShort = "short"

// shortages are errors that mean that this machine or process has run out of a
// resource: file descriptors, memory, local ports.
var shortages = []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.EADDRNOTAVAIL}

// shortage reports whether an attempt failed for lack of a local resource. A
// machine without an IPv6 address returns EADDRNOTAVAIL for any receiver that has
// one: that is not a shortage. DNS errors have their cause only as text.
func shortage(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	for _, kind := range shortages {
		switch {
		case errors.As(err, &dns):
			if strings.HasSuffix(dns.Err, kind.Error()) {
				return true
			}
		case !errors.Is(err, kind):
		case kind == syscall.EADDRNOTAVAIL && errors.As(err, &op):
			to, ok := op.Addr.(*net.TCPAddr)
			return ok && to.IP.To4() != nil
		default:
			return true
		}
	}
	return false
}

// outOfDate reports whether an attempt failed since the receiver's certificate was not
// valid by our clock.
func outOfDate(err error) bool {
	var invalid x509.CertificateInvalidError
	return errors.As(err, &invalid) && invalid.Reason == x509.Expired
}

// The pauses during a shortage: the first, and the longest.
const (
	firstShortPause = time.Second
	maxShortPause   = 30 * time.Second
)

// short is the dispatcher's state during a shortage. All but reason belongs to
// Run's goroutine.
type short struct {
	reason atomic.Pointer[string] // nil: none
	pause  time.Duration
	until  time.Time
}

func (s *short) pausing() bool { return time.Now().Before(s.until) }

// note starts a pause, each twice as long as the one before, or ends the
// shortage. Attempts that end during a pause began before it.
func (s *short) note(r *result, log *zerolog.Logger) {
	switch {
	case s.pausing():
	case !r.short:
		s.end(log)
	default:
		s.pause = min(max(2*s.pause, firstShortPause), maxShortPause)
		s.until = time.Now().Add(s.pause)
		if s.reason.Swap(&r.attempt.Reason) == nil {
			log.Error().Str("reason", r.attempt.Reason).Str("hint", "raise the limit of open files (LimitNOFILE, ulimit -n), or fix the cause that the reason names").
				Msg("deliveries can't be sent because this server has run out of a resource; they don't count as attempts, and sending resumes later")
		}
	}
}

func (s *short) end(log *zerolog.Logger) {
	if s.reason.Swap(nil) != nil {
		log.Info().Msg("deliveries are being sent again")
	}
	s.pause = 0
}

// Short returns the reason for a current shortage of local resources, or "".
func (d *Dispatcher) Short() string {
	if reason := d.short.reason.Load(); reason != nil {
		return *reason
	}
	return ""
}
