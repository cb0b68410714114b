package app

import (
	"context"
	"sync"
	"time"

	"teamdata/internal/hint"
	"teamdata/store"
)

// job is work that is done in the background, once or again and again.
type job struct {
	first  time.Duration        // how long until it is done for the first time
	pause  time.Duration        // from one start to the next; a run that takes longer is followed by the next at once
	next   func() time.Duration // instead of pause: asked after each run how long until the next; without both the job runs once
	wake   waker                // starts a run at once; may be nil
	do     func(context.Context) error
	failed string // what the log says when do returns an error
}

// waker has a token once a job is to run at once.
type waker chan struct{}

// Wake starts the job, or another run after the one that is running.
func (w waker) Wake() {
	select {
	case w <- struct{}{}:
	default:
	}
}

// jobGroup is a list of jobs that run together. A group with a name runs on one node at
// a time, one without on each.
type jobGroup struct {
	name string
	jobs []job
}

// placeEvery is how often a server without commits checks that its data file is
// still where it was opened.
const placeEvery = time.Second

// backgroundJobs returns all jobs of a running server. Once the server stops, mail that is
// being sent may take until grace is done.
func (a *App) backgroundJobs(grace context.Context) []jobGroup {
	keyUse := keyUseEvery
	if a.settings.Demo { // somebody waits for the step to be ticked
		keyUse = time.Second
	}
	own := []job{
		{first: keyUse, pause: keyUse, do: a.server.KeepKeyUse, failed: keyUseFailed},
		{do: a.renewCertificates},
		{first: placeEvery, pause: placeEvery, do: func(context.Context) error { _ = a.store.CheckPlace(); return nil }}, // Life reports the result
	}
	if a.memory != nil {
		own = append(own, job{do: func(ctx context.Context) error { a.memory.GiveBack(ctx); return nil }})
	}
	if a.certificates != nil && (a.settings.OperatorMail != "" || a.settings.OperatorOrg != "") {
		own = append(own, a.expiring().job())
	}
	if file, ok := a.store.(store.FileEngine); ok && a.settings.BackupDir != "" {
		own = append(own, a.backups(file).job())
	}
	return []jobGroup{{"mail", a.mailJobs(grace)}, {"sweep", a.sweepJobs()}, {replaysJob, []job{a.replayJob()}}, {"", own}}
}

// runJobs runs groups of jobs until ctx is done.
func (a *App) runJobs(ctx context.Context, groups ...jobGroup) {
	var running sync.WaitGroup
	for _, g := range groups {
		together := func(ctx context.Context) error {
			var jobs sync.WaitGroup
			for _, j := range g.jobs {
				jobs.Go(func() { a.repeat(ctx, j) })
			}
			jobs.Wait()
			return nil
		}
		if g.name == "" {
			running.Go(func() { together(ctx) })
		} else {
			running.Go(func() { a.hold(ctx, g.name, together) })
		}
	}
	running.Wait()
}

// repeat runs a job each time it is due, until ctx is done.
func (a *App) repeat(ctx context.Context, j job) {
	due := time.NewTimer(j.first)
	defer due.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-due.C:
		case <-j.wake:
		}
		if ctx.Err() != nil { // both were ready
			return
		}
		began := time.Now()
		a.try(ctx, j)
		switch {
		case j.pause > 0:
			due.Reset(j.pause - time.Since(began))
		case j.next != nil:
			due.Reset(j.next())
		default:
			return
		}
	}
}

// try runs a job once, and logs its error unless ctx is done.
func (a *App) try(ctx context.Context, j job) {
	if err := j.do(ctx); err != nil && ctx.Err() == nil {
		a.log.Error().Fields(hint.Fields(err)).Msg(j.failed)
	}
}

// holdAgain is how long after a job was found held, or its hold was lost, it is asked
// for again.
const holdAgain = 2 * time.Second

// hold does a job, which goes on until its ctx is done, whenever no other node does
// it.
func (a *App) hold(ctx context.Context, job string, do func(ctx context.Context) error) {
	for ctx.Err() == nil {
		if _, err := a.store.Hold(ctx, job, do); err != nil && ctx.Err() == nil {
			a.log.Error().Fields(hint.Fields(err)).Str("job", job).Msg("can't determine which node runs this job")
		}
		select {
		case <-ctx.Done():
		case <-time.After(holdAgain):
		}
	}
}

const (
	keyUseEvery  = time.Minute // how often the last use of keys is written
	keyUseFailed = "the last use of keys can't be written; trying again"
)

// writeKeyUse writes the last use of keys now.
func (a *App) writeKeyUse(ctx context.Context) {
	a.try(ctx, job{do: a.server.KeepKeyUse, failed: keyUseFailed})
}
