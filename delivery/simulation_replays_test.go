package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"teamdata/store"
	storeengine "teamdata/store/engine"
)

// modelReplay is a job that replays what an endpoint did not get since a time.
type modelReplay struct {
	w     *world
	e     *endpoint // that it was created for
	since time.Time
	began time.Time
	now   time.Time // of the store, when it was created
	done  int
}

// replaySince creates such a job, and runs all that are there: those that were left by a
// process that was killed, too.
func (w *world) replaySince(e *endpoint, since time.Time) {
	what := fmt.Sprintf("the replay of what %s did not get since %s", e.name, w.since(since))
	f := w.as(what, func(a *transaction) want {
		if len(a.jobs) != 1 {
			w.breaksLocked(commits, "%s creates %d jobs", a.who, len(a.jobs))
			return want{}
		}
		id := a.jobs[0].ID
		w.replays[id] = &modelReplay{w: w, e: e, since: floorMs(since), began: time.Now(), now: a.now}
		return want{audits: []string{"deliveries.replayed " + id}}
	})
	steps := w.as("a step of a replay", w.stepOfReplay)
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.StartReplay(tx, "", store.ReplayJob{OrgID: e.orgID, Filter: store.DeliveryFilter{Endpoint: e.id, Since: since}})
			return err
		}, store.CodeNotFound, store.CodeConflict)
		if err := store.RunReplays(ctx, steps); !errors.Is(err, storeengine.ErrClosed) { // its program has ended; the next one goes on
			w.allow(steps.who, err)
		}
	})
}

// stepOfReplay says what a step of a job must write. The last one leaves nothing out that
// only the job could have changed since it was created.
func (w *world) stepOfReplay(a *transaction) (want want) {
	if len(a.jobs) == 0 && !a.wrote() {
		return want // it was done by another caller
	}
	if len(a.jobs) != 1 || w.replays[a.jobs[0].ID] == nil {
		w.breaksLocked(commits, "%s writes %d jobs, or one that nobody created", a.who, len(a.jobs))
		return want
	}
	j, is := w.replays[a.jobs[0].ID], a.jobs[0]
	for _, d := range a.put {
		p := w.byID[d.ID]
		if p == nil || !j.covers(p) {
			w.breaksLocked(schedule, "%s replays %s, which it is not about", a.who, d.ID)
			continue
		}
		p.requeue(j.now)
		want.moved = append(want.moved, p)
	}
	if j.done += len(want.moved); is.Done != j.done {
		w.breaksLocked(commits, "%s says that it replayed %d of %d", a.who, is.Done, j.done)
	}
	if left := j.left(); is.State == store.ReplayDone && len(left) > 0 {
		w.breaksLocked(arrival, "the replay of what %s did not get since %s left %s out", j.e.name, w.since(j.since), deliveryNames(left))
	}
	return want
}

// left are the deliveries that it should have replayed, and that nothing else has changed
// since it was created.
func (j *modelReplay) left() (left []*modelDelivery) {
	for _, p := range j.w.deliveries {
		if j.covers(p) && p.moved.Before(j.began) {
			left = append(left, p)
		}
	}
	return left
}

// covers reports whether the job replays a delivery: one to the endpoint that has its id
// now, whose last attempt failed between the time that was asked for and its creation.
func (j *modelReplay) covers(p *modelDelivery) bool {
	if p.to != j.w.now(j.e) || p.gone || p.lastEnd.IsZero() {
		return false
	}
	if p.state == store.StateFailed {
		return !p.finished.Before(j.since) && !p.finished.After(j.now)
	}
	return p.state == store.StateRetrying && p.due.After(j.now) && !p.lastEnd.Before(j.since) && p.lastEnd.Before(j.now)
}
