package admin

import (
	"errors"
	"net/http"
	"time"

	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/eventtype"
	"teamdata/wire/web"
)

func endpointJSON(tx store.Tx, e store.Endpoint) (object, error) {
	o := newObject().text("id", e.ID).text("kind", e.Kind())
	if !e.Pull() {
		o = o.text("url", e.URL)
	}
	o = o.text("description", e.Description).texts("events", e.Events).
		time("createdAt", e.CreatedAt).time("disabledAt", e.DisabledAt).
		nullable("disabledBy", e.DisabledBy).nullable("disabledReason", e.DisabledReason).time("oldSecretUntil", e.OldSecretUntil)
	if !e.Pull() {
		return o.sending(&e.Sending), nil
	}
	last, err := tx.LastPulled(e.Number)
	return o.time("lastPulledAt", last.At).nullable("lastPulledBy", last.KeyID), err
}

// sending writes the options that are set, without what is secret of them.
func (o object) sending(s *store.SendOptions) object {
	if len(s.HeaderNames) > 0 {
		o = o.texts("headerNames", s.HeaderNames)
	}
	if s.Rate != "" {
		o = o.text("rate", s.Rate)
	}
	if s.MaxInFlight > 0 {
		o = o.number("maxInFlight", int64(s.MaxInFlight))
	}
	if s.ClientCertificate != "" {
		o = o.text("clientCertificate", s.ClientCertificate).time("clientCertificateExpiresAt", s.CertificateEnds)
	}
	if s.CA != "" {
		o = o.text("ca", s.CA)
	}
	return o
}

func (r *request) listEndpoints() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		endpoints, err := tx.Endpoints(r.org())
		page := pageOf(endpoints, 0, q, func(e store.Endpoint) string { return e.ID }, func(e store.Endpoint) []byte {
			shown, errShown := endpointJSON(tx, e)
			err = errors.Join(err, errShown)
			return shown.end()
		})
		return page, err
	})
}

func (r *request) createEndpoint() error {
	b := decode[api.NewEndpoint](r)
	e := store.Endpoint{OrgID: r.org(), ID: orZero(b.ID), URL: b.URL, Events: b.Events, Description: orZero(b.Description), Secret: orZero(b.Secret)}
	options := store.SendChange{Headers: orZero(b.Headers), Rate: b.Rate, MaxInFlight: b.MaxInFlight, ClientCertificate: b.ClientCertificate, ClientKey: b.ClientKey, CA: b.CA}
	return r.idempotent(func(tx store.Tx) (_ store.Answer, err error) {
		if err := store.CheckKind(orZero(b.Kind), e.URL); err != nil {
			return store.Answer{}, err
		}
		if e.Sending, err = e.Sending.WithChange(options); err != nil {
			return store.Answer{}, err
		}
		e, err := store.CreateEndpoint(tx, r.actor, e)
		o, err := r.warned(tx, e, err)
		return withSecret(http.StatusCreated, o, "secret", e.Secret), err
	})
}

// warned returns a written endpoint with warnings about its URL.
func (r *request) warned(tx store.Tx, e store.Endpoint, failed error) (object, error) {
	if failed != nil {
		return nil, failed
	}
	var warnings []string
	if warn := r.api.config.WarnOfURL; warn != nil && !e.Pull() && warn(e.URL) != "" {
		warnings = append(warnings, warn(e.URL))
	}
	o, failed := endpointJSON(tx, e)
	others, err := store.WithSameURL(tx, e)
	for _, id := range others {
		warnings = append(warnings, "The endpoint "+id+" has the same URL: events that both select are sent there twice.")
	}
	if len(warnings) > 0 {
		o = o.texts("warnings", warnings)
	}
	return o, errors.Join(failed, err)
}

func (r *request) readEndpoint() error { return r.view(r.answerEndpoint) }

func (r *request) answerEndpoint(tx store.Tx) (store.Answer, error) {
	e, err := store.FindEndpoint(tx, r.org(), r.Param("endpoint"))
	if err != nil {
		return store.Answer{}, err
	}
	o, err := endpointJSON(tx, e)
	return ok(o.end()), err
}

func (r *request) updateEndpoint() error {
	b := decode[api.EndpointChange](r)
	change := store.EndpointChange{URL: b.URL, Description: b.Description, Events: orZero(b.Events), Sending: store.SendChange{
		NoHeaders: b.Headers != nil && *b.Headers == nil, Headers: orZero(b.Headers), Rate: b.Rate, MaxInFlight: b.MaxInFlight,
		ClientCertificate: b.ClientCertificate, ClientKey: b.ClientKey, CA: b.CA,
	}}
	return r.update(func(tx store.Tx) (store.Answer, error) {
		e, err := store.ChangeEndpoint(tx, r.actor, r.org(), r.Param("endpoint"), change)
		o, err := r.warned(tx, e, err)
		return ok(o.end()), err
	})
}

func (r *request) deleteEndpoint() error {
	return r.update(func(tx store.Tx) (store.Answer, error) {
		return noContent, store.RemoveEndpoint(tx, r.actor, r.org(), r.Param("endpoint"))
	})
}

func (r *request) enableEndpoint() error {
	return r.actOn("endpoint", store.EnableEndpoint, r.answerEndpoint)
}

func (r *request) disableEndpoint() error {
	return r.actOn("endpoint", store.DisableEndpoint, r.answerEndpoint)
}

func (r *request) testEndpoint() error {
	kind := orZero(decodeOptional[api.Test](r).Type)
	var test eventtype.Test
	unknown := r.api.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) { // an example is made beside the writer
		test, err = eventtype.TestOf(tx, r.org(), kind)
		return err
	})
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		if unknown != nil {
			return store.Answer{}, unknown
		}
		d, err := test.Send(tx, r.org(), r.Param("endpoint"))
		return ok(newObject().text("id", d.ID).end()), err
	})
}

// readSecret is a GET that writes an audit entry, since a secret that is shown
// may be copied.
func (r *request) readSecret() error {
	a, err := r.run(r.commit, func(tx store.Tx) (store.Answer, error) {
		e, err := store.ShowSecret(tx, r.actor, r.org(), r.Param("endpoint"))
		if len(e.Secrets(tx.Now())) == 1 {
			e.OldSecret, e.OldSecretUntil = "", time.Time{}
		}
		return ok(newObject().text("secret", e.Secret).nullable("oldSecret", e.OldSecret).time("oldSecretUntil", e.OldSecretUntil).end()), err
	})
	if err == nil {
		r.Send(a)
	}
	return err
}

// readHeaders is as readSecret.
func (r *request) readHeaders() error {
	a, err := r.run(r.commit, func(tx store.Tx) (store.Answer, error) {
		e, err := store.ShowHeaders(tx, r.actor, r.org(), r.Param("endpoint"))
		headers, values := newObject(), e.Sending.HeaderValues()
		for i, name := range e.Sending.HeaderNames {
			headers = headers.text(name, values[i])
		}
		return ok(newObject().raw("headers", headers.end()).end()), err
	})
	if err == nil {
		r.Send(a)
	}
	return err
}

func (r *request) rotateSecret() error {
	b := decodeOptional[api.Rotation](r)
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		e, err := store.RotateSecret(tx, r.actor, r.org(), r.Param("endpoint"), orZero(b.Secret), seconds(b.OverlapSeconds))
		if err != nil {
			return store.Answer{}, err
		}
		o, err := endpointJSON(tx, e)
		return withSecret(http.StatusOK, o, "secret", e.Secret), err
	})
}
