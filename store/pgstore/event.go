package pgstore

import (
	"teamdata/store"
	"teamdata/store/codec"
)

var events = records[store.Event]{table: define("events", 1, text("id"), blob("record")), noun: "event", fields: codec.Event}

func (t *tx) AddEvent(e store.Event, list []store.Delivery) error {
	if err := events.insert(t, e, e.ID); err != nil {
		return err
	}
	for i := range list {
		if err := t.addDelivery(&list[i], deliveries.insert); err != nil {
			return err
		}
	}
	return nil
}

func (t *tx) Event(id string) (store.Event, error) { return events.get(t, id) }

// readEvents reads ahead what dropping deliveries reads: their events, and which other
// deliveries of those are there.
func (t *tx) readEvents(ids []string) error {
	known := t.over.in(deliveries.table)
	var of, others []string
	for _, id := range ids {
		if found := known[string(plain(id))].row; found != nil {
			d, err := readDelivery(found)
			if err != nil {
				return err
			}
			of = append(of, d.EventID)
		}
	}
	if err := t.run(t.over.load(events.table, "id = ANY($1)", of)); err != nil {
		return err
	}
	for _, id := range of {
		found := t.over.in(events.table)[string(plain(id))].row
		if found == nil {
			continue
		}
		e, err := events.read(found)
		if err != nil {
			return err
		}
		for _, d := range e.Deliveries {
			if _, there := known[string(plain(d))]; !there {
				others = append(others, d)
			}
		}
	}
	if len(others) == 0 {
		return nil
	}
	if err := t.run(t.over.load(deliveries.table, "id = ANY($1)", others)); err != nil {
		return err
	}
	for _, d := range others {
		t.over.loaded(deliveries.table, row{plain(d)}, nil)
	}
	return nil
}

// dropEvent deletes an event if none of its deliveries is left.
func (t *tx) dropEvent(id string) error {
	e, err := events.get(t, id)
	if err != nil {
		return err
	}
	var unread []string
	for _, d := range e.Deliveries {
		found, known := t.over.rows[deliveries.place][string(plain(d))]
		if known && found.row != nil {
			return nil
		}
		if !known {
			unread = append(unread, d)
		}
	}
	if len(unread) > 0 {
		rows, err := t.query(nil, "SELECT 1::bigint FROM deliveries WHERE id = ANY($1) LIMIT 1", unread)
		if err != nil || len(rows) > 0 {
			return err
		}
	}
	return events.remove(t, id)
}
