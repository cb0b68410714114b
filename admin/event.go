package admin

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"maps"

	"teamdata/store"
	"teamdata/wire/eventtype"
)

// event is one to be sent.
type event struct {
	Kind string `json:"type"`
	Data []byte `json:"data"` // without insignificant space, once it is compacted
}

// compact bounds the data, too: it may be one of many in a larger body, and receivers
// take events of the size that a body of its own has.
func (e *event) compact() (err error) {
	e.Data, err = compacted("data", e.Data)
	if err == nil && len(e.Data) > maxBody {
		err = store.Invalid("data", "has %d bytes", len(e.Data)).Advise("at most %d are allowed", maxBody)
	}
	return err
}

func (r *request) sendEvent() error {
	return r.send("", []event{decode[event](r)}, func(sent [][]byte) []byte { return sent[0] })
}

func (r *request) sendEvents() error {
	const places = "events"
	return r.send(places, readBatch[event](r, places), func(sent [][]byte) []byte {
		return list(newObject(), places, sent, func(shown []byte) []byte { return shown }).end()
	})
}

// send emits the events at the places of a list, or the only one. Their data is
// checked against the schemas of their types before the commit, so that no writer
// waits for that.
func (r *request) send(places string, events []event, answer func(sent [][]byte) []byte) (err error) {
	for i := range events {
		if err := cmp.Or(r.bodyErr, atPlace(places, i, events[i].compact())); err != nil {
			return err
		}
	}
	for err = errSchemaChanged; errors.Is(err, errSchemaChanged); {
		err = r.sendChecked(places, events, answer)
	}
	return err
}

// errSchemaChanged means that the data was checked against an outdated schema.
var errSchemaChanged = errors.New("the schema of the event type was changed meanwhile")

func (r *request) sendChecked(places string, events []event, answer func(sent [][]byte) []byte) error {
	held, at, fault, err := r.precheck(events)
	if err != nil {
		return err
	}
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		now, err := schemasOf(tx, events)
		if err == nil && !maps.EqualFunc(now, held, bytes.Equal) {
			err = errSchemaChanged
		}
		if err != nil {
			return store.Answer{}, err
		}
		sent, err := eachPlace(places, events, func(i int, e event) ([]byte, error) {
			if _, known := held[e.Kind]; !known {
				_, err := schemaOf(tx, e.Kind)
				return nil, err
			}
			if i == at && fault != nil {
				return nil, fault
			}
			return r.emit(tx, e)
		})
		if err != nil {
			return store.Answer{}, err
		}
		return created(answer(sent)), nil
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

// precheck checks the data of events against the schemas that their types have now.
// It returns those, and the first fault with its place. Anything else that is wrong
// is found later, in its order.
func (r *request) precheck(events []event) (held map[string][]byte, at int, fault, err error) {
	err = r.api.store.View(r.HTTP.Context(), func(tx store.Tx) (err error) {
		held, err = schemasOf(tx, events)
		return err
	})
	for at = 0; at < len(events) && err == nil; at++ {
		if fault = r.checkData(events[at].Kind, held[events[at].Kind], events[at].Data); fault != nil {
			break
		}
	}
	return held, at, fault, err
}

// schemasOf returns the schemas of the types of events, nil for a type that has
// none. Types that there are not are left out.
func schemasOf(tx store.Tx, events []event) (map[string][]byte, error) {
	schemas := map[string][]byte{}
	for _, e := range events {
		if _, found := schemas[e.Kind]; found {
			continue
		}
		switch text, err := schemaOf(tx, e.Kind); {
		case err == nil:
			schemas[e.Kind] = text
		case store.CodeOf(err) != store.CodeBadRequest:
			return nil, err
		}
	}
	return schemas, nil
}

func (r *request) emit(tx store.Tx, e event) ([]byte, error) {
	deliveries, err := store.Emit(tx, r.org(), e.Kind, e.Data)
	ids := make([]string, len(deliveries))
	for i := range deliveries {
		ids[i] = deliveries[i].ID
	}
	return newObject().texts("deliveries", ids).end(), err
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
		return eventtype.InField("data", err)
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
