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
			row := eventTypeRow{eventChoice: t, BuiltIn: store.IsBuiltInEventType(t.Name)}
			for _, e := range endpoints {
				if e.Selects(t.Name) {
					row.Endpoints++
				}
			}
			rows = append(rows, row)
		}
		return err
	})
}

// eventTypePage is the data of eventtype.html.
type eventTypePage struct {
	eventtype.Type
	BuiltIn   bool
	Text      []byte       // its JSON Schema, indented; empty: any object
	Body      []byte       // a whole event with its example, indented; empty: there is no example
	Endpoints []selectedBy // all of the org
	Selecting int          // how many of them select it
}

// selectedBy is an endpoint beside an event type.
type selectedBy struct {
	store.Endpoint
	Selects bool
}

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
		endpoints, err := tx.Endpoints(r.Org.ID)
		for _, e := range endpoints {
			s := selectedBy{e, e.Selects(t.Name)}
			if p.Endpoints = append(p.Endpoints, s); s.Selects {
				p.Selecting++
			}
		}
		return err
	})
}

var errNoEventType = store.Errorf(store.CodeNotFound, "There is no such event type.").Advise("The event catalogue has all that there are.")

// indented is JSON for people to read. Other text stays as it is.
func indented(text []byte) []byte {
	var b bytes.Buffer
	if len(text) == 0 || json.Indent(&b, text, "", "  ") != nil {
		return text
	}
	return b.Bytes()
}
