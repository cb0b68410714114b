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
