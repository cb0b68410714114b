package delivery_test

import "time"

// readyAt is from when on nothing but the endpoint's other deliveries keeps a
// delivery from being sent.
func (w *world) readyAt(p *parcel) time.Time {
	return latest(p.due, p.moved, p.to.enabledAt, w.calmAt)
}

// holdPromptness holds a delivery that is taken in hand to the time when it
// could have been.
func (w *world) holdPromptness(p *parcel, busy bool) {
	if !w.roomy {
		return // it may have waited for room
	}
	ready := w.readyAt(p)
	if late := time.Since(ready); p.to.character.kind == healthy && late > prompt {
		w.breaksLocked(neighbours, "%s is sent to %s, which is well, %s late", p.name, p.to.name, late)
	}
	if late := time.Since(latest(ready, p.to.idleSince)); !busy && late > prompt {
		w.breaksLocked(schedule, "%s is sent to %s, which was idle, %s late", p.name, p.to.name, late)
	}
}

// look looks for what should have been done by now. All sleep meanwhile.
func (w *world) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.parcels {
		if p.waiting() && p.to.disabledBy == nil && p.to.removedBy == nil && w.inHand[p.id] == nil {
			w.holdPromptness(p, p.to.claimed > 0)
		}
	}
	for _, l := range w.mails {
		if late := time.Since(latest(l.due, l.moved, w.calmAt)); !l.gone && late > time.Minute {
			w.breaksLocked(disabling, "the mail %s to %s is %s late", l.id, l.to, late)
		}
	}
}

// restless finds a dispatcher that looks for work again and again, where nothing
// has happened since and nothing is due. It makes it rest, so that time passes on.
func (w *world) restless(e *endpoint, found int, err error) error {
	if e.looks++; found > 0 || w.happened != e.happened {
		e.looks, e.happened = 0, w.happened
	}
	if e.looks < 6 {
		return err
	}
	w.breaksLocked(memory, "the dispatcher looks again and again for what is due to %s, and finds nothing", e.name)
	return errBroken
}
