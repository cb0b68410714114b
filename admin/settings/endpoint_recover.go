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

func (v *visit) askRecover() error { return v.renderRecover(200, recoverPage{Span: "24h"}) }

// recoverEndpoint takes many transactions, so that no writer waits for it.
func (v *visit) recoverEndpoint() error {
	if err := v.view(nil); err != nil {
		return err
	}
	n, done, err := v.queueAgain()
	if e, ok := formError(err); ok {
		form := v.r.PostForm
		return v.renderRecover(e.Code.Status(), recoverPage{Err: e, Span: form.Get("span"), Since: form.Get("since")})
	}
	if err != nil {
		return err
	}
	query := url.Values{"done": {done}, "n": {strconv.Itoa(n)}, "state": {"waiting"}}
	return v.redirect(v.endpointPath("deliveries") + "?" + query.Encode())
}

// queueAgain queues what was in vain, and returns how much, and the notice for it.
func (v *visit) queueAgain() (n int, done string, err error) {
	since, err := v.recoverSince()
	if err != nil {
		return 0, "", err
	}
	ctx, cancel := context.WithTimeout(v.r.Context(), maxRecovering)
	defer cancel()
	n, err = store.Recover(ctx, v.s.store, v.actor(), v.org.ID, v.param(endpointParam), since)
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

func (v *visit) recoverSince() (time.Time, error) {
	form := v.r.PostForm
	if span, ok := recoverSpans[form.Get("span")]; ok {
		return v.now.Add(-span), nil
	}
	since, ok := parseInput(form.Get("since"))
	if !ok {
		return time.Time{}, store.Invalid("since", "Choose one of the spans, or give a date and a time in UTC.")
	}
	return since, nil
}

// parseInput reads the value of a datetime-local input, taken as UTC.
func parseInput(text string) (time.Time, bool) {
	for _, form := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05"} { // Parse takes a fraction by itself
		if t, err := time.Parse(form, text); err == nil && !t.Before(time.UnixMilli(0)) && !t.After(store.MaxTime) {
			return t, true
		}
	}
	return time.Time{}, false
}

// renderRecover fills in the endpoint of the path.
func (v *visit) renderRecover(status int, p recoverPage) error {
	err := v.view(func(tx store.Tx) (err error) {
		p.Endpoint, err = v.endpoint(tx)
		return err
	})
	if err != nil {
		return err
	}
	return v.render(status, "webhook_recover", &p)
}
