package settings

import (
	"context"
	"errors"
	"net/url"
	"strconv"
	"time"

	"teamdata/store"
)

// maxRecovering bounds how long a request queues deliveries again. What is left
// then is queued by another.
const maxRecovering = 30 * time.Second

// recoverPage asks from when on an endpoint's deliveries are queued again.
type recoverPage struct {
	store.Endpoint
	Err   *store.Error // nil: nothing is wrong
	Span  string       // that was chosen: a key of recoverSpans, or "since"
	Since string       // as a datetime-local input has it, in UTC
}

// recoverSpans are what can be chosen beside a time.
var recoverSpans = map[string]time.Duration{"1h": time.Hour, "24h": 24 * time.Hour, "7d": 7 * 24 * time.Hour}

func (r *request) showRecover() error { return r.renderRecover(200, recoverPage{Span: "24h"}) }

// recoverEndpoint takes many transactions, so that no writer waits for it.
func (r *request) recoverEndpoint() error {
	if err := r.view(nil); err != nil {
		return err
	}
	n, done, err := r.recoverDeliveries()
	if e, ok := formError(err); ok {
		form := r.HTTP.PostForm
		return r.renderRecover(e.Code.Status(), recoverPage{Err: e, Span: form.Get("span"), Since: form.Get("since")})
	}
	if err != nil {
		return err
	}
	query := url.Values{"done": {done}, "n": {strconv.Itoa(n)}, "state": {"waiting"}}
	return r.redirect(r.endpointPath("deliveries") + "?" + query.Encode())
}

// recoverDeliveries queues what was unsuccessful, and returns how much, and the notice for it.
func (r *request) recoverDeliveries() (n int, done string, err error) {
	since, err := r.recoverSince()
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(r.HTTP.Context(), maxRecovering)
	defer cancel()
	n, err = store.Recover(ctx, r.s.store, r.actor(), r.org.ID, r.Param(endpointParam), since)
	done, err = recoveredAs(err)
	return n, done, err
}

// recoveredAs is the notice of how a recovery ended. One that ran out of time did
// a part of the work.
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
	form := r.HTTP.PostForm
	if span, ok := recoverSpans[form.Get("span")]; ok {
		return r.now.Add(-span), nil
	}
	since, ok := parseInput(form.Get("since"))
	if !ok {
		return time.Time{}, store.Invalid("since", "Choose a period, or enter a date and time in UTC.")
	}
	return since, nil
}

// renderRecover fills in the endpoint of the path.
func (r *request) renderRecover(status int, p recoverPage) error {
	err := r.view(func(tx store.Tx) (err error) {
		p.Endpoint, err = r.endpoint(tx)
		return err
	})
	if err != nil {
		return err
	}
	return r.render(status, "endpoint_recover", &p)
}

func (r *request) replayDelivery() error {
	err := r.change(func(tx store.Tx) error {
		_, err := store.Replay(tx, r.actor(), r.org.ID, r.Param(deliveryParam))
		return err
	})
	if err != nil {
		return err
	}
	return r.done("delivery-replayed", r.path("deliveries", r.Param(deliveryParam)))
}
