package delivery

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"teamdata/internal/hint"
	"teamdata/store"
)

// job is one claimed delivery to attempt.
type job struct {
	ctx    context.Context
	claims *store.Claims
	claim  *store.Claim // of them
	pacer  *pacer       // nil: the endpoint has no rate
}

// inTime reports whether the claims still allow an attempt to start. That goes by the
// system's monotonic clock, which tests don't move, and nobody sets back; and by its other
// one, since the machine may have been suspended.
func (j *job) inTime() bool {
	now, until := time.Now(), j.claims.Until
	return until.IsZero() || now.Before(until) && now.Round(0).Before(until.Round(0))
}

// attempt sends one claimed delivery, records its outcome and releases it. An
// attempt cut off by the shutdown, not made for lack of local resources or of the
// proxy, or whose claim is over, does not count.
func (d *Dispatcher) attempt(j job) {
	endpoint := &j.claims.Endpoint
	r := result{endpoint: endpoint.Number}
	var began time.Time // by the endpoint's rate
	if j.pacer != nil {
		if began, r.lost = d.begin(j); began.IsZero() {
			r.asked, r.early = true, !r.lost
		} else {
			d.inbox.addResult(result{endpoint: endpoint.Number, asked: true, begun: true})
		}
	}
	r.lost = r.lost || !j.inTime()
	if !r.lost && !r.early {
		var outcome string
		r.attempt, outcome = d.send(j.ctx, endpoint, j.claim)
		r.short, r.behind = outcome == outcomeShort, outcome == outcomeBehind
		if j.pacer != nil {
			if r.attempt.StartedAt.IsZero() {
				j.pacer.giveBack(began)
			}
			r.attempt.StartedAt = began
		}
		if j.ctx.Err() == nil && !r.short && !r.behind {
			d.onAttempt(endpoint.OrgID, endpoint.ID, outcome, r.attempt.Took())
			r.lost = d.record(j, r.attempt)
		}
	}
	d.store.Release(j.claim.Delivery.ID)
	d.inbox.addResult(r)
}

// record writes the outcome, and logs when that disables the endpoint. It reports
// whether another node has the delivery by now, so that nothing was written.
func (d *Dispatcher) record(j job, a store.Attempt) (lost bool) {
	endpoint, disabled := &j.claims.Endpoint, false
	lost = record(j.ctx, d.store, d.config.Log, j.scope(&a), func(tx store.Tx) (err error) {
		if done, err := recorded(tx, &j.claim.Delivery); done || err != nil {
			return err
		}
		disabled, err = store.RecordAttempt(tx, j.claim.Delivery.ID, a, d.config.Schedule)
		return err
	})
	if lost || !disabled || j.ctx.Err() != nil {
		return lost
	}
	d.config.Log.Warn().Str("org", endpoint.OrgID).Str("endpoint", endpoint.ID).Str("delivery", j.claim.Delivery.ID).Str("reason", a.Reason).
		Msg("a webhook endpoint was disabled: nothing was acknowledged there during a delivery's last retries; its events are held until it is enabled")
	d.config.Mailed()
	return false
}

// recorded reports whether an attempt was recorded since a delivery was claimed: this
// one, by a commit that had failed as far as could be known, and turns out to be there.
func recorded(tx store.Tx, claimed *store.Delivery) (bool, error) {
	d, err := tx.Delivery(claimed.ID)
	n := len(d.History)
	return n != len(claimed.History) || n > 0 && !d.History[n-1].EndedAt.Equal(claimed.History[n-1].EndedAt), err
}

// scope is that of the outcome.
func (j *job) scope(a *store.Attempt) store.Scope {
	ids := []string{j.claims.Endpoint.OrgID, j.claim.Delivery.ID}
	return store.Scope{
		Orgs: ids[:1], Deliveries: ids[1:], Fence: j.claims.Fence,
		Patient: a.TimedOut, // those of receivers that hang come steadily, and would each take a commit
	}
}

// recordPause is the delay before retrying to write an outcome. The delivery
// stays claimed meanwhile, so its receiver doesn't get it repeatedly while the
// disk is full.
const recordPause = time.Second

// record writes the outcome of an attempt or of a mail, retrying until ctx is
// done. Nothing is written for a record deleted meanwhile, nor for a claim that was
// lost: that is reported.
func record(ctx context.Context, s store.Store, log *zerolog.Logger, scope store.Scope, outcome func(store.Tx) error) (lost bool) {
	for {
		err := s.Update(ctx, scope, outcome)
		if err == nil || store.IsNotFound(err) || ctx.Err() != nil {
			return false
		}
		if store.CodeOf(err) == store.CodeFenced {
			return true
		}
		log.Error().Fields(hint.Fields(err)).Msg("the outcome of an attempt can't be written; trying again")
		select {
		case <-ctx.Done():
		case <-time.After(recordPause):
		}
	}
}

// maxIdle is the number of idle goroutines kept.
const maxIdle = 64

// workers are the goroutines of attempts, one each. They are reused, since their
// stacks have already grown to the size needed.
type workers struct {
	run      func(job)
	jobs     chan job // to an idle worker
	idle     atomic.Int32
	inFlight sync.WaitGroup
}

func (w *workers) start(j job) {
	w.inFlight.Add(1)
	select {
	case w.jobs <- j:
	default:
		go w.work(j)
	}
}

func (w *workers) work(j job) {
	for more := true; more; j, more = w.next() {
		w.run(j)
		w.inFlight.Done()
	}
}

// next waits for another job; more is false if enough other workers are idle.
func (w *workers) next() (j job, more bool) {
	defer w.idle.Add(-1)
	if w.idle.Add(1) > maxIdle {
		return job{}, false
	}
	j, more = <-w.jobs
	return j, more
}

// wait waits for the attempts in flight, and lets the idle goroutines end.
func (w *workers) wait() {
	w.inFlight.Wait()
	close(w.jobs)
}
