package settings

import (
	"bytes"
	"encoding/json"

	"teamdata/store"
	"teamdata/wire/eventtype"
)

// eventTypeRow is an event type in the catalogue.
type eventTypeRow struct {
	eventChoice
	BuiltIn   bool
	Endpoints int // of the org, that select it
}

// listEventTypes is the catalogue: the built-in types, then the operator's.
func (r *request) listEventTypes() error {
	var rows []eventTypeRow
	return r.Show(200, "eventtypes", &rows, func(tx store.Tx) error {
		types, err := eventChoices(tx, nil)
		if err != nil {
			return err
		}
		endpoints, err := tx.Endpoints(r.Org.ID)
		for _, t := range types {
			rows = append(rows, eventTypeRow{t, store.IsBuiltInEventType(t.Name), countSelecting(endpoints, t.Name)})
		}
		return err
	})
}

// countSelecting is how many endpoints select an event type.
func countSelecting(endpoints []store.Endpoint, name string) (n int) {
	for _, e := range endpoints {
		if e.Selects(name) {
			n++
		}
	}
	return n
}

// eventTypePage is the data of eventtype.html.
type eventTypePage struct {
	eventtype.Type
	BuiltIn   bool
	Text      []byte           // its JSON Schema, indented; empty: any object
	Body      []byte           // a whole event with its example, indented; empty: there is no example
	Endpoints []store.Endpoint // all of the org
}

// Selecting is how many of the endpoints select it.
func (p *eventTypePage) Selecting() int { return countSelecting(p.Endpoints, p.Name) }

func (r *request) showEventType() error {
	var p eventTypePage
	return r.Show(200, "eventtype", &p, func(tx store.Tx) error {
		t, err := eventtype.Find(tx, r.Param("type"))
		if store.IsNotFound(err) {
			return errNoEventType
		}
		if err != nil {
			return err
		}
		p.Type, p.BuiltIn = t, store.IsBuiltInEventType(t.Name)
		body, err := t.Body(r.Org.ID)
		if err != nil {
			return err
		}
		p.Text, p.Body = indented(t.Schema), indented(body)
		p.Endpoints, err = tx.Endpoints(r.Org.ID)
		return err
	})
}

var errNoEventType = store.Errorf(store.CodeNotFound, "There is no such event type.").Advise("The event catalogue lists all of them.")

// indented is JSON for people to read. Other text stays as it is.
func indented(text []byte) []byte {
	var b bytes.Buffer
	if len(text) == 0 || json.Indent(&b, text, "", "  ") != nil {
		return text
	}
	return b.Bytes()
}
