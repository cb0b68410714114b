package settings

import (
	"context"
	"errors"
	"strconv"
	"time"

	"teamdata/store"
)

// maxRecovering bounds how long one request recovers deliveries. Another request
// continues.
const maxRecovering = 30 * time.Second

// recoverPage asks from which time on to recover an endpoint's deliveries.
type recoverPage struct {
	store.Endpoint
	Err   *store.Error // nil: nothing is wrong
	Span  string       // the choice: a key of recoverSpans, or "since"
	Since string       // value of a datetime-local input, in UTC
}

// recoverSpans are the choices besides a time.
var recoverSpans = map[string]time.Duration{"1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour}

func (r *request) showRecover() error { return r.renderRecover(200, recoverPage{Span: "24h"}) }

// recoverEndpoint takes many transactions, so that no writer waits for long.
func (r *request) recoverEndpoint() error {
	if err := r.view(nil); err != nil {
		return err
	}
	n, done, err := r.recoverDeliveries()
	if err != nil {
		return onForm(err, func(status int, e *store.Error) error {
			return r.renderRecover(status, recoverPage{Err: e, Span: r.field("span"), Since: r.field("since")})
		})
	}
	return r.redirect(withQuery(r.endpointPath("deliveries"), "done", done, "n", strconv.Itoa(n), "state", "waiting"))
}

// recoverDeliveries queues unsuccessful deliveries for retry, and returns how many,
// and the notice for it.
func (r *request) recoverDeliveries() (n int, done string, err error) {
	since, err := r.recoverSince()
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), maxRecovering)
	defer cancel()
	n, err = store.Recover(ctx, r.s.store, r.actor(), r.org.ID, r.Param("endpoint"), since)
	done, err = recoveredAs(err)
	return n, done, err
}

// recoveredAs is the notice for the end of a recovery, which may have run out of
// time with a part of the deliveries recovered.
func recoveredAs(err error) (string, error) {
	switch {
	case err == nil:
		return "recovered", nil
	case errors.Is(err, context.DeadlineExceeded):
		return "recovered-some", nil
	}
	return "", err
}

func (r *request) recoverSince() (time.Time, error) {
	if span, ok := recoverSpans[r.field("span")]; ok {
		return r.now.Add(-span), nil
	}
	since, ok := parseInput(r.field("since"))
	if !ok {
		return time.Time{}, store.Invalid("since", "Choose a period, or enter a date and time in UTC.")
	}
	return since, nil
}

// renderRecover fills in the endpoint of the path.
func (r *request) renderRecover(status int, p recoverPage) error {
	return r.show(status, "endpoint_recover", &p, func(tx store.Tx) (err error) {
		p.Endpoint, err = r.endpoint(tx)
		return err
	})
}

func (r *request) replayDelivery() error {
	return r.do("delivery-replayed", r.path("deliveries", r.Param("delivery")), func(tx store.Tx) error {
		_, err := store.Replay(tx, r.actor(), r.org.ID, r.Param("delivery"))
		return err
	})
}
