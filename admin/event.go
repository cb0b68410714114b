package admin

import (
	"bytes"
	"encoding/json"
	"errors"

	"teamdata/internal/schema"
	"teamdata/store"
)

// sendEvent emits an event. Its data is checked against the schema of its type
// before the commit, so that no writer waits for that.
func (r *request) sendEvent() error {
	var kind string
	var data []byte
	if err := r.in.Document(r.in.Text("type", &kind), r.in.Raw("data", &data)); err != nil {
		return err
	}
	data, err := compacted("data", data)
	if err != nil {
		return err
	}
	for err = errSchemaChanged; errors.Is(err, errSchemaChanged); {
		err = r.sendChecked(kind, data)
	}
	return err
}

// errSchemaChanged means that the data was checked against an outdated schema.
var errSchemaChanged = errors.New("the schema of the event type was changed meanwhile")

func (r *request) sendChecked(kind string, data []byte) error {
	held, fault, err := r.precheck(kind, data)
	if err != nil {
		return err
	}
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		now, err := schemaOf(tx, kind)
		switch {
		case err != nil:
			return store.Answer{}, err
		case !bytes.Equal(now, held):
			return store.Answer{}, errSchemaChanged
		case fault != nil:
			return store.Answer{}, fault
		}
		return r.emit(tx, kind, data)
	})
}

// compacted is compact for a field that must be an object.
func compacted(field string, object []byte) ([]byte, error) {
	if len(object) == 0 || object[0] != '{' {
		return nil, store.Invalid(field, "is missing, or not an object")
	}
	return compact(object)
}

// compact returns JSON without insignificant space.
func compact(text []byte) ([]byte, error) {
	var b bytes.Buffer
	err := json.Compact(&b, text)
	return b.Bytes(), err
}

// precheck checks data against the schema that its type has now, and returns that
// schema and the fault. Anything else that is wrong is found later, in its order.
func (r *request) precheck(kind string, data []byte) (held []byte, fault, err error) {
	err = r.api.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		held, err = schemaOf(tx, kind)
		return err
	})
	if store.CodeOf(err) == store.CodeBadRequest {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return held, r.checkData(kind, held, data), nil
}

func (r *request) emit(tx store.Tx, kind string, data []byte) (store.Answer, error) {
	deliveries, err := store.Emit(tx, r.org(), kind, data)
	ids := make([]string, len(deliveries))
	for i := range deliveries {
		ids[i] = deliveries[i].ID
	}
	return created(newObject().texts("deliveries", ids).end()), err
}

// checkData checks the data of an event against the schema of its type. The data of
// a built-in type names the org that the event is sent in.
func (r *request) checkData(kind string, text, data []byte) error {
	if text == nil {
		return nil
	}
	s, err := r.api.schemas.Compile(text)
	if err != nil {
		return store.Invalid("type", "has a schema that can't be used: %v", err).Advise("register the type again")
	}
	if err := s.Check(data); err != nil {
		return schema.InField("data", err)
	}
	if !store.IsBuiltInEventType(kind) {
		return nil
	}
	var named struct{ OrgID string }
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	if named.OrgID != r.org() {
		return store.Invalid("data.orgId", "must be %s, the org that the event is sent in", r.org())
	}
	return nil
}
