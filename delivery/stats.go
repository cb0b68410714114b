package delivery

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"time"

	"teamdata/internal/netguard"
	"teamdata/store"
)

// Attempted is what there is to tell of one attempt.
type Attempted struct {
	OrgID, EndpointID string
	Outcome           string // one of Outcomes
	Took              time.Duration
}

// Outcomes are what can come of an attempt: a 2xx, another status by its class, or
// what kept a status line from coming.
var Outcomes = []string{"acknowledged", "1xx", "3xx", "4xx", "5xx", "other", "timeout", "guard", "dns", "tls", "connect", "broken"}

// watch is who looks after a Dispatcher.
type watch struct {
	attempted func(Attempted)
	pulse     chan struct{} // takes a token from the dispatcher while that has nothing else to do
}

// OnAttempt sets who is told of each attempt that counts. It is set once, before
// Run; fn is called by many goroutines.
func (d *Dispatcher) OnAttempt(fn func(Attempted)) { d.config.watch.attempted = fn }

// Alive waits for Run to take a turn. It returns ctx's error if that doesn't come.
func (d *Dispatcher) Alive(ctx context.Context) error {
	select {
	case <-d.config.watch.pulse:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell tells of an attempt, with what kept its status line from coming.
func (w *watch) tell(e *store.Endpoint, a *store.Attempt, err error, reached step) {
	if w.attempted != nil {
		w.attempted(Attempted{OrgID: e.OrgID, EndpointID: e.ID, Outcome: kindOf(a, err, reached), Took: a.Took()})
	}
}

func kindOf(a *store.Attempt, err error, reached step) string {
	switch {
	case a.TimedOut:
		return "timeout"
	case err != nil:
		return kindOfError(err, reached)
	case a.Acknowledged():
		return "acknowledged"
	}
	return kindOfStatus(a.Status)
}

// kindOfError follows reason, which has the words.
func kindOfError(err error, reached step) string {
	var (
		refusal     *netguard.Refusal
		dns         *net.DNSError
		certificate *tls.CertificateVerificationError
		record      tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &refusal):
		return "guard"
	case errors.As(err, &dns):
		return "dns"
	case errors.As(err, &certificate), errors.As(err, &record), reached == stepTLS:
		return "tls"
	case reached < stepTLS:
		return "connect"
	}
	return "broken"
}

func kindOfStatus(status int) string {
	switch status / 100 {
	case 1:
		return "1xx"
	case 3:
		return "3xx"
	case 4:
		return "4xx"
	case 5:
		return "5xx"
	}
	return "other"
}
