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
func (x *exchange) inOrg(do work) work {
	return func(tx store.Tx) (store.Answer, error) {
		if err := x.findOrg(tx); err != nil {
			return store.Answer{}, err
		}
		return do(tx)
	}
}

// findOrg looks whether the org of the path exists. Outside of orgs there is
// nothing to find.
func (x *exchange) findOrg(tx store.Orgs) error {
	id := x.org()
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
func (x *exchange) read(do work) error {
	if err := x.checkOrgID(); err != nil {
		return err
	}
	var a store.Answer
	err := x.f.store.View(x.r.Context(), func(tx store.Tx) (err error) {
		a, err = x.inOrg(do)(tx)
		return err
	})
	if err != nil {
		return err
	}
	x.send(a)
	return nil
}

// change commits what a PUT, PATCH or DELETE does; an error undoes it.
func (x *exchange) change(do work) error {
	if err := x.checkOrgID(); err != nil {
		return err
	}
	var a store.Answer
	err := x.f.store.Update(x.r.Context(), func(tx store.Tx) (err error) {
		a, err = x.inOrg(do)(tx)
		return err
	})
	if err != nil {
		return err
	}
	x.changed(a)
	return nil
}

// changed answers what was done.
func (x *exchange) changed(a store.Answer) {
	x.logChange(a.Status)
	x.send(a)
}

// once commits what a POST does, with its answer when the request carries an
// Idempotency-Key.
func (x *exchange) once(do work) error {
	if err := x.checkOrgID(); err != nil {
		return err
	}
	do = x.inOrg(do)
	kept := func(tx store.Tx) (store.Answer, error) { return outcome(do(tx)) }
	return x.answerOnce(x.f.idempotency.Do(x.r.Context(), x.f.store, x.org(), x.key, x.fingerprint(), kept))
}

// act is once for a request that has nothing to say in its body.
func (x *exchange) act(do work) error {
	if err := x.noFields(); err != nil {
		return err
	}
	return x.once(do)
}

// answerOnce answers with what was done, now or when the key was first used.
func (x *exchange) answerOnce(a store.Answer, replayed bool, err error) error {
	switch {
	case err != nil:
		return err
	case replayed:
		x.w.Header()["Idempotent-Replayed"] = web.Replayed
		x.send(a)
	default:
		x.changed(a)
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
func (x *exchange) fingerprint() (print store.Fingerprint) {
	if x.key == "" {
		return print // not needed, and not cheap
	}
	return store.FingerprintOf(x.r.Method, x.r.URL.Path, "admin/v1 "+x.actor, x.body)
}

// checkOrgID keeps what can be no org's id out of the store.
func (x *exchange) checkOrgID() error {
	if id := x.org(); id != "" && !store.ValidID(id) {
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
