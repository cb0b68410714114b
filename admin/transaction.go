package admin

import (
	"context"
	"errors"
	"net/http"
	"time"

	"teamdata/store"
	"teamdata/wire/web"
)

// transaction is what a request reads or does in one transaction, and the answer
// to it. It may run twice.
type transaction func(tx store.Tx) (store.Answer, error)

var errNoOrg = store.Errorf(store.CodeNotFound, "There is no such org.")

// inOrg is a transaction that finds the org of the path first.
func (r *request) inOrg(do transaction) transaction {
	return func(tx store.Tx) (store.Answer, error) {
		if err := r.findOrg(tx); err != nil {
			return store.Answer{}, err
		}
		return do(tx)
	}
}

// findOrg checks that the org of the path exists, if the path has one.
func (r *request) findOrg(tx store.Tx) error {
	id := r.org()
	if id == "" {
		return nil
	}
	_, err := tx.Org(id)
	if store.IsNotFound(err) {
		return errNoOrg
	}
	return err
}

// view answers from a consistent snapshot of the data.
func (r *request) view(do transaction) error {
	a, err := r.run(r.api.store.View, do)
	if err == nil {
		r.Send(a)
	}
	return err
}

// update commits what a PUT, PATCH or DELETE does; an error undoes it.
func (r *request) update(do transaction) error {
	a, err := r.run(r.commit, do)
	if err == nil {
		r.sendChange(a)
	}
	return err
}

// commit is an Update of the request's scope.
func (r *request) commit(ctx context.Context, fn func(store.Tx) error) error {
	return r.api.store.Update(ctx, r.scope(), fn)
}

// scope is the org of the path and what is beyond it; everything, if the path has
// no org.
func (r *request) scope() store.Scope {
	scope := store.InOrg(r.org())
	scope.Users, scope.All = r.beyond.Users, scope.All || r.beyond.All
	return scope
}

// idempotencyKey is the request's, apart from those of the org's clients.
func (r *request) idempotencyKey() store.IdempotencyKey {
	return store.IdempotencyKey{OrgID: store.OperatorKeys(r.org()), Key: r.key}
}

// run runs a transaction by view or commit.
func (r *request) run(by func(context.Context, func(store.Tx) error) error, do transaction) (a store.Answer, err error) {
	if err := r.checkInput(); err != nil {
		return a, err
	}
	err = by(r.HTTP.Context(), func(tx store.Tx) (err error) {
		a, err = r.inOrg(do)(tx)
		return err
	})
	return a, err
}

// sendChange answers what was done, and logs it.
func (r *request) sendChange(a store.Answer) {
	r.logChange(a.Status)
	r.Send(a)
}

// idempotent commits what a POST does, with its answer when the request carries an
// Idempotency-Key. A refusal undoes what was begun, such as the first places of a
// batch, before it is kept as the answer.
func (r *request) idempotent(do transaction) error {
	if err := r.checkInput(); err != nil {
		return err
	}
	var refused error
	a, replayed, err := r.once(func(tx store.Tx) (a store.Answer, err error) {
		a, err = r.inOrg(do)(tx)
		refused = err
		return a, err
	})
	if r.key != "" && refused != nil && err == refused {
		a, replayed, err = r.once(func(store.Tx) (store.Answer, error) { return r.keptAnswer(a, refused) })
	}
	return r.sendIdempotent(a, replayed, err)
}

// once runs a transaction at most once under the request's key.
func (r *request) once(do transaction) (a store.Answer, replayed bool, err error) {
	return r.api.idempotency.Do(r.HTTP.Context(), r.api.store, r.scope(), r.idempotencyKey(), r.fingerprint(), do)
}

var errDryRun = errors.New("a dry run is undone")

// dryRun answers what a transaction would do, and undoes it.
func (r *request) dryRun(do transaction) error {
	var a store.Answer
	_, err := r.run(r.commit, func(tx store.Tx) (_ store.Answer, err error) {
		if a, err = do(tx); err == nil {
			err = errDryRun
		}
		return a, err
	})
	if !errors.Is(err, errDryRun) {
		return err
	}
	r.Send(a)
	return nil
}

// long is idempotent for work that takes long, in transactions of its own.
func (r *request) long(do func() (store.Answer, error)) error {
	if err := r.checkInput(); err != nil {
		return err
	}
	r.clearDeadlines()
	kept := func() (store.Answer, error) { return r.keptAnswer(do()) }
	return r.sendIdempotent(r.api.idempotency.DoLong(r.HTTP.Context(), r.api.store, r.idempotencyKey(), r.fingerprint(), kept))
}

// clearDeadlines removes the connection's deadlines for long work. A
// ResponseWriter without deadlines is left alone.
func (r *request) clearDeadlines() {
	c := http.NewResponseController(r.W)
	c.SetReadDeadline(time.Time{})
	c.SetWriteDeadline(time.Time{})
}

// action is idempotent for a request whose body says nothing.
func (r *request) action(do transaction) error {
	r.readOptional()
	return r.idempotent(do)
}

// actOn is action for what is done to a record, whose id is a parameter of the path,
// and then answers as answer does.
func (r *request) actOn(param string, act func(tx store.Tx, actorID, orgID, id string) error, answer transaction) error {
	return r.action(func(tx store.Tx) (store.Answer, error) {
		if err := act(tx, r.actor, r.org(), r.Param(param)); err != nil {
			return store.Answer{}, err
		}
		return answer(tx)
	})
}

// sendIdempotent answers with what was done, now or when the key was first used.
func (r *request) sendIdempotent(a store.Answer, replayed bool, err error) error {
	switch {
	case err != nil:
		return err
	case replayed:
		r.W.Header()["Idempotent-Replayed"] = web.Replayed
		r.Send(a)
	default:
		r.sendChange(a)
	}
	return nil
}

// keptAnswer is what is kept under an Idempotency-Key. A request that is refused
// for what it says was not executed: its error is not kept.
func (r *request) keptAnswer(a store.Answer, err error) (store.Answer, error) {
	if store.CodeOf(err) == store.CodeBadRequest {
		return a, err
	}
	return r.AnswerOf(a, err)
}

// fingerprint tells requests apart, also by their actor.
func (r *request) fingerprint() (print store.Fingerprint) {
	if r.key == "" {
		return print // not needed, and not cheap
	}
	return store.FingerprintOf(r.HTTP.Method, r.HTTP.URL.Path, "admin/v1 "+r.actor, r.body)
}

// checkInput refuses a body with a fault, and what can't be an org's id, before the
// store is asked.
func (r *request) checkInput() error {
	if r.bodyErr != nil {
		return r.bodyErr
	}
	if id := r.org(); id != "" && !store.ValidID(id) {
		return errNoOrg
	}
	return nil
}

// ok is an answer with a record.
func ok(record []byte) store.Answer { return web.JSON(http.StatusOK, record) }

// created is an answer with a new record.
func created(record []byte) store.Answer { return web.JSON(http.StatusCreated, record) }

// noContent is the answer to what was deleted.
var noContent = store.Answer{Status: http.StatusNoContent}
