package delivery_test

import (
	"context"
	"maps"
	"slices"
	"time"

	"teamdata/store"
)

// clientAction lets a client do something.
func (w *world) clientAction() {
	o := pick(w.Rand, w.orgs)
	switch n := w.IntN(100); {
	case n < 30:
		w.upload(o)
	case n < 40:
		w.addMember(o)
	case n < 45:
		w.removeMember(o)
	case n < 54:
		w.sendTest(o)
	case n < 64:
		w.request(o)
	case n < 67:
		w.burst()
	case n < 72:
		w.poll(o)
	case n < 75:
		w.sweep()
	case n < 84:
		w.aConsumer(o)
	default:
		w.operate(o)
	}
}

// burst lets many do something at the same time, so that they share commits.
func (w *world) burst() {
	for range 5 + w.IntN(20) {
		switch o := pick(w.Rand, w.orgs); w.IntN(4) {
		case 0:
			w.addMember(o)
		case 1:
			w.request(o)
		default:
			w.upload(o)
		}
	}
}

// update is an Update of a client, which may fail with some of the codes; with
// CodeUnavailable only while something is wrong.
func (w *world) update(ctx context.Context, f storeClient, fn func(store.Tx) error, allowed ...store.Code) {
	w.allow(f.who, f.Update(ctx, store.All, fn), allowed...)
}

func (w *world) allow(who string, err error, allowed ...store.Code) {
	if err == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	code := store.CodeOf(err)
	w.noteLocked("%s: %v", who, err)
	if code == store.CodeUnavailable && w.calmAt.After(time.Now()) {
		return
	}
	if !slices.Contains(allowed, code) {
		w.breaksLocked(commits, "%s got %v", who, err)
	}
}

func (w *world) upload(o *org) {
	file := w.name("fil_")
	f := w.as("the upload of "+file, func(*transaction) want {
		want := o.wanted("file.uploaded", file)
		want.audits = []string{"file.uploaded " + file}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.UploadFile(tx, "", store.File{OrgID: o.id, ID: file, Name: "a.pdf", ContentType: "application/pdf", Size: 1})
			return err
		})
	})
}

func (w *world) addMember(o *org) {
	m := store.Member{OrgID: o.id, UserID: w.name("usr_"), Role: store.RoleMember}
	if w.IntN(6) == 0 {
		m.Role, m.Email = store.RoleAdmin, m.UserID+"@team.example"
	}
	f := w.as("adding the member "+m.UserID, func(*transaction) want {
		o.members = append(o.members, m.UserID)
		o.people[m.UserID] = &person{m.Role, m.Email}
		want := o.wanted("member.added", m.UserID)
		want.audits = []string{"member.added"}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.AddMember(tx, "", m)
			return err
		})
	})
}

func (w *world) removeMember(o *org) {
	user := w.someMember(o)
	if user == "" {
		return
	}
	f := w.as("removing the member "+user, func(*transaction) want {
		o.members = slices.DeleteFunc(o.members, func(u string) bool { return u == user })
		delete(o.people, user)
		want := o.wanted("member.removed", user)
		want.audits = []string{"member.removed"}
		return want
	})
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error { return store.RemoveMember(tx, "", o.id, user) }, store.CodeNotFound)
	})
}

// someMember is one who may be changed and removed; empty if there is none.
func (w *world) someMember(o *org) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return pick(w.Rand, o.members)
}

// testOf is what a test event to an endpoint brings.
func (w *world) testOf(a *transaction, e *endpoint) want {
	if e.disabledBy != nil {
		w.breaksLocked(disabling, "%s is sent to %s, which is disabled", a.who, e.name)
	}
	return want{event: "webhook.test", subject: e.id, to: []*endpoint{e}}
}

func (w *world) sendTest(o *org) {
	e := w.anEndpoint(o)
	f := w.as("a test to "+e.name, func(a *transaction) want { return w.testOf(a, w.now(e)) })
	w.client(func(ctx context.Context) {
		w.update(ctx, f, func(tx store.Tx) error {
			_, err := store.SendTest(tx, o.id, e.id)
			return err
		}, store.CodeConflict, store.CodeNotFound)
	})
}

// api answers requests with idempotency keys, as the API does; each process has its
// own.
type api struct {
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
	f := w.as("a request with "+key, func(a *transaction) want {
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
		api := w.api
		w.client(func(ctx context.Context) { w.ask(ctx, api, f, key, e) })
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

func (w *world) ask(ctx context.Context, api *api, f storeClient, key string, e *endpoint) {
	w.mu.Lock()
	before, known := w.answers[key]
	w.mu.Unlock()
	print := store.FingerprintOf("POST", e.id, "", nil)
	got, replayed, err := api.Do(ctx, f, store.InOrg(e.orgID), store.IdempotencyKey{OrgID: e.orgID, Key: key}, print, func(tx store.Tx) (store.Answer, error) {
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
