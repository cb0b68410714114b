package delivery_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"teamdata/store"
)

// desk answers requests under their keys, as the API does; each process has its
// own.
type desk struct {
	store.Idempotency
}

// request makes a request that is safe to repeat, and repeats it, at the same
// time or until there is an answer.
func (w *world) request(o *org) {
	key, e := w.name("key "), w.anEndpoint(o)
	if w.IntN(3) == 0 {
		key, e = w.olderKey(key, e)
	}
	w.mu.Lock()
	w.asked[key] = e
	w.mu.Unlock()
	f := w.as("a request with "+key, func(a *act) want {
		old, known := w.answers[key]
		if known && !a.wrote() {
			return want{} // what was kept is answered
		}
		if known && a.now.Sub(old.FirstUse) < store.IdempotencyTTL {
			w.breaksLocked(commits, "%s is executed again; it was %s before", a.who, a.now.Sub(old.FirstUse))
		}
		wanted := w.testOf(a, w.now(e))
		wanted.answer = key
		if len(a.answers) == 1 {
			w.answers[key] = a.answers[0]
		}
		return wanted
	})
	for range 1 + w.IntN(2) {
		desk := w.desk
		w.client(func(ctx context.Context) { w.ask(ctx, desk, f, key, e) })
	}
}

// olderKey is a key that was used before.
func (w *world) olderKey(key string, e *endpoint) (string, *endpoint) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if older := pick(w.Rand, slices.Sorted(maps.Keys(w.asked))); older != "" {
		return older, w.asked[older]
	}
	return key, e
}

func (w *world) ask(ctx context.Context, desk *desk, f face, key string, e *endpoint) {
	w.mu.Lock()
	before, known := w.answers[key]
	w.mu.Unlock()
	print := store.FingerprintOf("POST", e.id, "", nil)
	got, replayed, err := desk.Do(ctx, f, e.orgID, key, print, func(tx store.Tx) (store.Answer, error) {
		d, err := store.SendTest(tx, e.orgID, e.id)
		return store.Answer{Status: 202, Body: []byte(d.ID)}, err
	})
	w.allow(f.who, err, store.CodeConflict, store.CodeNotFound)
	if err != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	kept, ok := w.answers[key]
	if !ok || string(kept.Answer.Body) != string(got.Body) {
		w.breaksLocked(commits, "%s is answered %q; what was kept is %q", f.who, got.Body, kept.Answer.Body)
	}
	fresh := known && w.clock().Sub(before.FirstUse) < store.IdempotencyTTL-time.Minute
	if fresh && (!replayed || string(before.Answer.Body) != string(got.Body)) {
		w.breaksLocked(commits, "%s is answered %q after %q", f.who, got.Body, before.Answer.Body)
	}
}
