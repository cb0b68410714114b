package store

import (
	"context"
	"math"
	"slices"
	"time"
)

// Replay queues a delivery again, with the same id and a new schedule. A waiting
// delivery becomes due at once; at a disabled endpoint it is held. One that is leased, and
// a second call before an attempt, change nothing. notFound: the org has no such delivery, or
// no longer has its endpoint.
func Replay(tx Tx, actorID, orgID, deliveryID string) (Delivery, error) {
	d, _, err := FindDelivery(tx, orgID, deliveryID)
	if err != nil || d.State == StateLeased || d.State.Waiting() && !d.DueAt.After(tx.Now()) {
		return d, err
	}
	d.requeue(tx.Now())
	return d, auditBy(tx.PutDelivery(d), tx, actorID, orgID, "delivery.replayed", d.ID)
}

// requeue makes a delivery due. A finished one starts over.
func (d *Delivery) requeue(due time.Time) {
	if !d.State.Waiting() {
		d.State, d.Attempts, d.FirstAttemptAt, d.FinishedAt = StatePending, 0, time.Time{}, time.Time{}
	}
	d.DueAt = due
}

// Jobs queue up to replayStep deliveries each replayEvery, which is 670/s at most, and
// read up to replayRead to find them: nobody waits for a job so much that others should
// feel it. The step itself costs them less time than the attempts that follow it, so a step
// is small.
const (
	replayStep  = 10
	replayRead  = 100
	replayEvery = 15 * time.Millisecond
)

// RunReplays does the jobs that are running, of all orgs in turn, until none is left.
// Each step is a small transaction, which queues some deliveries again and writes how
// far the job has come: a job that is killed in between goes on where it was. A second caller
// at the same time makes it faster, and nothing else.
func RunReplays(ctx context.Context, s Store) error {
	p := pace{began: time.Now(), patience: math.MaxInt64, every: replayEvery}
	for {
		running, err := runningReplays(ctx, s)
		if err != nil || len(running) == 0 {
			return err
		}
		for _, j := range running {
			err := p.update(ctx, s, InOrg(j.OrgID), func(tx Tx, _ int) error { return stepReplay(tx, j.ID) })
			if err != nil {
				return err
			}
		}
	}
}

func runningReplays(ctx context.Context, s Store) (running []ReplayJob, err error) {
	err = s.View(ctx, func(tx Tx) error {
		jobs, err := tx.AllReplayJobs("", math.MaxInt)
		running = slices.DeleteFunc(jobs, func(j ReplayJob) bool { return j.State != ReplayRunning })
		return err
	})
	return running, err
}

// stepReplay does the next step of a job, if that is still there and running.
func stepReplay(tx Tx, id string) error {
	j, err := tx.ReplayJob(id)
	if err != nil || j.State != ReplayRunning {
		return unlessNotFound(err)
	}
	before := j.Done
	more, err := j.walk(tx, replayRead, func(d *Delivery) (enough bool, err error) {
		d.requeue(j.CreatedAt)
		j.Done++
		return j.Done-before == replayStep, tx.PutDelivery(*d)
	})
	if err != nil {
		return err
	}
	if !more {
		j.finish(tx, ReplayDone)
	}
	return tx.PutReplayJob(j)
}
