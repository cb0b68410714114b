package delivery_test

import (
	"testing/synctest"
	"time"

	"teamdata/store"
)

// mend ends all that goes wrong.
func (w *world) mend() {
	w.mu.Lock()
	w.haste.over = true
	w.mu.Unlock()
	w.clients.Wait()
	w.skew.Store(0)
	w.mu.Lock()
	if w.disk.dead {
		w.mu.Unlock()
		w.crash("the program is killed")
		w.mu.Lock()
	}
	w.disk.dieAfter, w.disk.faultEnds, w.post.failing = 0, time.Time{}, 0
	for _, e := range w.endpoints {
		e.character.kind = healthy
	}
	w.calmAt = time.Now().Add(hiccup + deadline) // attempts may be on their way to those who hang
	w.noteLocked("all is mended")
	w.mu.Unlock()
	w.rest(time.Minute)
	for _, o := range w.orgs {
		w.changePlan(o, "team")
	}
	for _, o := range w.orgs {
		for _, e := range o.endpoints {
			w.enable(e)
		}
	}
	w.clients.Wait()
}

func (w *world) recoverAll() {
	for _, o := range w.orgs {
		for _, e := range o.endpoints {
			w.recoverSince(e, w.born)
		}
	}
	w.sweep()
	w.clients.Wait()
}

// lookAtTheEnd looks at what is left when all has settled: nothing that waits,
// and hardly any memory of what was.
func (w *world) lookAtTheEnd() {
	synctest.Wait()
	queues, timers, notices := w.process.dispatcher.Held()
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.endpoints); queues > n || timers > 0 || notices > 0 {
		w.breaksLocked(memory, "for %d endpoints that have nothing to do there are %d queues, %d timers and %d notices", n, queues, timers, notices)
	}
	for _, p := range w.parcels {
		switch t := p.lastTry(); {
		case p.gone, p.to.removedBy != nil:
		case p.state != store.StateAcknowledged || t == nil || !t.acked || !t.taken:
			w.breaksLocked(arrival, "%s to %s is %s in the end", p.name, p.to.name, p.state)
		}
	}
	for _, l := range w.mails {
		if !l.gone {
			w.breaksLocked(disabling, "the mail %s to %s was not sent in the end", l.id, l.to)
		}
	}
}

// lookAtTheRemains looks at what a process leaves behind.
func (w *world) lookAtTheRemains(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, in := range w.inHand {
		w.breaksLocked(schedule, "%s was not given back when the dispatcher ended", in.name)
	}
	clear(w.inHand)
	for _, e := range w.endpoints {
		e.claimed = 0
	}
	w.pending = nil
}

// lookForLostOutcomes looks for attempts that ended within the grace of a stop,
// and of which nothing was written.
func (w *world) lookForLostOutcomes(p *process, calm bool) {
	if p.err != nil {
		w.breaks(schedule, "the dispatcher was stopped, and ended with %v", p.err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, parcel := range w.parcels {
		t := parcel.lastTry()
		if t != nil && !parcel.gone && t.process == p.number && t.over && !t.recorded && t.end.Before(p.graceEndsAt.Add(-time.Second)) && calm {
			w.breaksLocked(duplicates, "the outcome of an attempt of %s is lost, which ended %s before the grace did", parcel.name, p.graceEndsAt.Sub(t.end))
		}
	}
}
