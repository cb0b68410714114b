package admin

import (
	"net/http"
	"time"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

func endpointJSON(e store.Endpoint) object {
	return newObject().text("id", e.ID).text("url", e.URL).text("description", e.Description).texts("events", e.Events).
		time("createdAt", e.CreatedAt).time("disabledAt", e.DisabledAt).time("oldSecretUntil", e.OldSecretUntil)
}

func shownEndpoint(e store.Endpoint) []byte { return endpointJSON(e).end() }

func (x *exchange) listEndpoints() error {
	return x.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		endpoints, err := tx.Endpoints(x.org())
		return pageOf(itemsOf(endpoints, 0, func(e store.Endpoint) string { return e.ID }, shownEndpoint), q), err
	})
}

func (x *exchange) createEndpoint() error {
	e, r := store.Endpoint{OrgID: x.org()}, x.in
	err := r.Document(r.Text("id", &e.ID), r.Text("url", &e.URL), r.Texts("events", &e.Events),
		r.Text("description", &e.Description), r.Text("secret", &e.Secret))
	if err != nil {
		return err
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		e, err := store.CreateEndpoint(tx, x.actor, e)
		return withSecret(http.StatusCreated, endpointJSON(e), "secret", e.Secret), err
	})
}

func (x *exchange) readEndpoint() error { return x.read(x.answerEndpoint) }

func (x *exchange) answerEndpoint(tx store.Tx) (store.Answer, error) {
	e, err := store.FindEndpoint(tx, x.org(), x.param("endpoint"))
	return ok(shownEndpoint(e)), err
}

func (x *exchange) changeEndpoint() error {
	var url, description optional
	var events []string
	var given bool
	r := x.in
	err := r.Document(url.text(r, "url"), description.text(r, "description"), strictjson.Given(&given, r.Texts("events", &events)))
	if err != nil {
		return err
	}
	change := store.EndpointChange{URL: url.value(), Description: description.value()}
	if given {
		change.Events = append([]string{}, events...) // none is not the same as left out
	}
	return x.change(func(tx store.Tx) (store.Answer, error) {
		e, err := store.ChangeEndpoint(tx, x.actor, x.org(), x.param("endpoint"), change)
		return ok(shownEndpoint(e)), err
	})
}

func (x *exchange) removeEndpoint() error {
	return x.change(func(tx store.Tx) (store.Answer, error) {
		return gone, store.RemoveEndpoint(tx, x.actor, x.org(), x.param("endpoint"))
	})
}

func (x *exchange) enableEndpoint() error  { return x.setDisabled(store.EnableEndpoint) }
func (x *exchange) disableEndpoint() error { return x.setDisabled(store.DisableEndpoint) }

func (x *exchange) setDisabled(set func(tx store.Tx, actorID, orgID, id string) error) error {
	return x.act(func(tx store.Tx) (store.Answer, error) {
		if err := set(tx, x.actor, x.org(), x.param("endpoint")); err != nil {
			return store.Answer{}, err
		}
		return x.answerEndpoint(tx)
	})
}

func (x *exchange) testEndpoint() error {
	return x.act(func(tx store.Tx) (store.Answer, error) {
		d, err := store.SendTest(tx, x.org(), x.param("endpoint"))
		return ok(newObject().text("id", d.ID).end()), err
	})
}

func (x *exchange) readSecret() error {
	return x.read(func(tx store.Tx) (store.Answer, error) {
		e, err := store.FindEndpoint(tx, x.org(), x.param("endpoint"))
		if len(e.Secrets(tx.Now())) == 1 {
			e.OldSecret, e.OldSecretUntil = "", time.Time{}
		}
		return ok(newObject().text("secret", e.Secret).nullable("oldSecret", e.OldSecret).time("oldSecretUntil", e.OldSecretUntil).end()), err
	})
}

func (x *exchange) rotateSecret() error {
	var secret string
	var overlap int64
	if len(x.body) > 0 {
		r := x.in
		err := r.Document(r.Text("secret", &secret), r.Int("overlapSeconds", &overlap, 0, int64(store.MaxSecretOverlap/time.Second)))
		if err != nil {
			return err
		}
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		e, err := store.RotateSecret(tx, x.actor, x.org(), x.param("endpoint"), secret, time.Duration(overlap)*time.Second)
		return withSecret(http.StatusOK, endpointJSON(e), "secret", e.Secret), err
	})
}
