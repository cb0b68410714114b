package store

import (
	"slices"
	"strings"
)

// DeliveryList is one of the three lists that each endpoint's deliveries are in.
type DeliveryList uint8

// The lists, and their order in [Deliveries.DeliveryPage].
const (
	ListAcknowledged DeliveryList = iota + 1 // latest first
	ListWaiting                              // earliest due first
	ListFailed                               // latest first
)

// DeliveryLists are all of them, in the order in which they are shown.
var DeliveryLists = []DeliveryList{ListWaiting, ListFailed, ListAcknowledged}

// String is the list's name, which is part of cursors.
func (l DeliveryList) String() string {
	switch l {
	case ListAcknowledged:
		return "acknowledged"
	case ListWaiting:
		return "waiting"
	case ListFailed:
		return "failed"
	}
	return "unknown"
}

// Position is the list that the delivery is in, and its place there: when it is
// due, or when it was finished.
func (d *Delivery) Position() (DeliveryList, Cursor) {
	switch d.State {
	case StateAcknowledged:
		return ListAcknowledged, CursorOf(d.FinishedAt, d.ID)
	case StateFailed:
		return ListFailed, CursorOf(d.FinishedAt, d.ID)
	}
	return ListWaiting, CursorOf(d.DueAt, d.ID)
}

// Cursor is the delivery's position in all lists together: that in its own, with
// the list's name before the id.
func (d *Delivery) Cursor() Cursor {
	list, at := d.Position()
	return Cursor{Ms: at.Ms, ID: list.String() + "." + at.ID}
}

// CutDeliveryCursor finds the list of a [Delivery.Cursor] and the position in it.
// The zero Cursor is the start of the first list. ok is false for a cursor of
// another form.
func CutDeliveryCursor(c Cursor) (list DeliveryList, at Cursor, ok bool) {
	if c.IsZero() {
		return DeliveryLists[0], c, true
	}
	name, id, _ := strings.Cut(c.ID, ".")
	for _, list := range DeliveryLists {
		if list.String() == name && ValidID(id) {
			return list, Cursor{Ms: c.Ms, ID: id}, true
		}
	}
	return 0, Cursor{}, false
}

// DeliveriesAfter reads up to limit deliveries of an endpoint after a
// [Delivery.Cursor], one list after the other: of those lists that are given, in
// the order of DeliveryLists. badRequest: the cursor has another form.
func DeliveriesAfter(tx Deliveries, endpoint uint64, lists []DeliveryList, after Cursor, limit int) (found []Delivery, err error) {
	first, at, ok := CutDeliveryCursor(after)
	if !ok {
		return nil, Invalid("after", "is not a position in the lists of deliveries")
	}
	for _, list := range DeliveryLists[slices.Index(DeliveryLists, first):] {
		if slices.Contains(lists, list) && len(found) < limit {
			page, _, err := tx.DeliveryPage(endpoint, list, at, limit-len(found))
			if err != nil {
				return nil, err
			}
			found = append(found, page...)
		}
		at = Cursor{}
	}
	return found, nil
}
