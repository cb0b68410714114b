package admin

import (
	"net/http"

	"teamdata/internal/web"
	"teamdata/store"
)

// work is what a request does to the data, and the answer to it. It may run
// twice.
type work func(tx store.Tx) (store.Answer, error)

var errNoOrg = store.Errorf(store.CodeNotFound, "There is no such org.")

// inOrg is work that finds the org of the path first.
func (r *request) inOrg(do work) work {
	return func(tx store.Tx) (store.Answer, error) {
		if err := r.findOrg(tx); err != nil {
			return store.Answer{}, err
		}
		return do(tx)
	}
}

// findOrg looks whether the org of the path exists. Outside of orgs there is
// nothing to find.
func (r *request) findOrg(tx store.Orgs) error {
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

// read answers from one moment of the data.
func (r *request) read(do work) error {
	if err := r.checkOrgID(); err != nil {
		return err
	}
	var a store.Answer
	err := r.f.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		a, err = r.inOrg(do)(tx)
		return err
	})
	if err != nil {
		return err
	}
	r.send(a)
	return nil
}

// change commits what a PUT, PATCH or DELETE does; an error undoes it.
func (r *request) change(do work) error {
	if err := r.checkOrgID(); err != nil {
		return err
	}
	var a store.Answer
	err := r.f.store.Update(r.HTTP.Context(), func(tx store.Tx) (err error) {
		a, err = r.inOrg(do)(tx)
		return err
	})
	if err != nil {
		return err
	}
	r.changed(a)
	return nil
}

// changed answers what was done.
func (r *request) changed(a store.Answer) {
	r.logChange(a.Status)
	r.send(a)
}

// once commits what a POST does, with its answer when the request carries an
// Idempotency-Key.
func (r *request) once(do work) error {
	if err := r.checkOrgID(); err != nil {
		return err
	}
	do = r.inOrg(do)
	kept := func(tx store.Tx) (store.Answer, error) { return outcome(do(tx)) }
	return r.answerOnce(r.f.idempotency.Do(r.HTTP.Context(), r.f.store, r.org(), r.key, r.fingerprint(), kept))
}

// act is once for a request that has nothing to say in its body.
func (r *request) act(do work) error {
	if err := r.noFields(); err != nil {
		return err
	}
	return r.once(do)
}

// answerOnce answers with what was done, now or when the key was first used.
func (r *request) answerOnce(a store.Answer, replayed bool, err error) error {
	switch {
	case err != nil:
		return err
	case replayed:
		r.W.Header()["Idempotent-Replayed"] = web.Replayed
		r.send(a)
	default:
		r.changed(a)
	}
	return nil
}

// outcome is what is kept under an Idempotency-Key. A request that is refused for
// what it says was not executed: its error undoes what was begun, and is not
// kept.
func outcome(a store.Answer, err error) (store.Answer, error) {
	if store.CodeOf(err) == store.CodeBadRequest {
		return a, err
	}
	return web.Outcome(a, err)
}

// fingerprint is what makes a request the same as another: who did it, too.
func (r *request) fingerprint() (print store.Fingerprint) {
	if r.key == "" {
		return print // not needed, and not cheap
	}
	return store.FingerprintOf(r.HTTP.Method, r.HTTP.URL.Path, "admin/v1 "+r.actor, r.body)
}

// checkOrgID keeps what can be no org's id out of the store.
func (r *request) checkOrgID() error {
	if id := r.org(); id != "" && !store.ValidID(id) {
		return errNoOrg
	}
	return nil
}

// ok is an answer with a record.
func ok(record []byte) store.Answer { return web.JSON(http.StatusOK, record) }

// created is the answer that a record is new.
func created(record []byte) store.Answer { return web.JSON(http.StatusCreated, record) }

// gone is the answer that there is nothing any more.
var gone = store.Answer{Status: http.StatusNoContent}
