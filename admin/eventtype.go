package admin

import (
	"teamdata/store"
	"teamdata/wire/eventtype"
	"teamdata/wire/web"
)

func eventTypeJSON(e store.EventType) []byte {
	return newObject().text("name", e.Name).text("description", e.Description).raw("schema", e.Schema).
		flag("builtIn", store.IsBuiltInEventType(e.Name)).end()
}

// listEventTypes lists the built-in types first.
func (r *request) listEventTypes() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		types, err := store.OwnEventTypes(tx)
		all := []store.EventType{}
		for _, name := range store.BuiltInEventTypes {
			all = append(all, eventtype.BuiltIn(name).EventType)
		}
		all = append(all, types...)
		return pageOf(all, len(store.BuiltInEventTypes), q, func(e store.EventType) string { return e.Name }, eventTypeJSON), err
	})
}

func (r *request) putEventType() error {
	e, in := store.EventType{Name: r.Param("type")}, r.in
	if err := in.Document(in.Value("description", &e.Description), in.Value("schema", &e.Schema)); err != nil {
		return err
	}
	if err := r.api.checkSchema(&e); err != nil {
		return err
	}
	return r.update(func(tx store.Tx) (store.Answer, error) {
		e, isNew, err := store.RegisterEventType(tx, e)
		return put(isNew, eventTypeJSON(e)), r.operated(err, tx, createdOr("eventType", isNew), e.Name)
	})
}

// checkSchema compiles the schema of a type, if it has one, and compacts it.
func (a *Admin) checkSchema(e *store.EventType) error {
	if e.Schema == nil {
		return nil
	}
	var err error
	if e.Schema, err = compact(e.Schema); err != nil {
		return err
	}
	if _, err := a.schemas.Compile(e.Schema); err != nil {
		return eventtype.InField("schema", err)
	}
	return nil
}

func (r *request) deleteEventType() error {
	return r.remove("eventType.deleted", r.Param("type"), store.RemoveEventType)
}

// schemaOf returns the schema of a type whose events may be sent; nil allows any
// object.
func schemaOf(tx store.Tx, kind string) ([]byte, error) {
	switch {
	case kind == store.EventWebhookTest:
		return nil, store.Invalid("type", "%s can't be sent as an event of your own", kind).Advise("test the endpoint instead")
	case store.IsSignal(kind):
		return nil, store.Invalid("type", "%s is a signal, which only the server sends", kind).Advise("send an event of another type")
	case store.IsBuiltInEventType(kind):
		return eventtype.BuiltIn(kind).Schema, nil
	}
	e, err := tx.EventType(kind)
	if store.IsNotFound(err) {
		return nil, store.NoEventType("type", kind)
	}
	return e.Schema, err
}
