package store

import (
	"slices"
	"strings"
	"time"
)

// DeliveryList is one of the three lists that each endpoint's deliveries are in.
type DeliveryList uint8

// The lists, and their order in [Deliveries.DeliveryPage].
const (
	ListAcknowledged DeliveryList = iota + 1 // latest first
	ListWaiting                              // earliest due first
	ListFailed                               // latest first
)

// DeliveryLists are all lists, in the order shown.
var DeliveryLists = []DeliveryList{ListWaiting, ListFailed, ListAcknowledged}

// ListAttempted has the deliveries of ListWaiting that were attempted, by the end of
// the last attempt, latest first. [Deliveries.LatestDeliveries] reads it.
const ListAttempted DeliveryList = 4

// ShownAt returns the time that people see of a delivery, and by which lists of
// several states are ordered: the end of its last attempt, or when it was queued if
// there was none yet, which is mostly when it was created.
func (d *Delivery) ShownAt() time.Time {
	switch {
	case !d.State.Waiting():
		return d.FinishedAt
	case len(d.History) > 0:
		return toMillisecond(d.History[len(d.History)-1].EndedAt)
	}
	return d.DueAt
}

// Latest is the delivery's position in [Deliveries.LatestDeliveries].
func (d *Delivery) Latest() Cursor { return CursorOf(d.ShownAt(), d.ID) }

// Attempted is the delivery's position in ListAttempted, if it is there.
func (d *Delivery) Attempted() (at Cursor, ok bool) {
	if !d.State.Waiting() || len(d.History) == 0 {
		return Cursor{}, false
	}
	return d.Latest(), true
}

// String returns the list's name, which is part of cursors.
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

// Position returns the delivery's list and its position there: by due time, or by
// the time when it finished.
func (d *Delivery) Position() (DeliveryList, Cursor) {
	switch d.State {
	case StateAcknowledged:
		return ListAcknowledged, CursorOf(d.FinishedAt, d.ID)
	case StateFailed:
		return ListFailed, CursorOf(d.FinishedAt, d.ID)
	}
	return ListWaiting, CursorOf(d.DueAt, d.ID)
}

// Cursor returns the delivery's position in all lists together: its Position with
// the list's name before the id.
func (d *Delivery) Cursor() Cursor {
	list, at := d.Position()
	return Cursor{Ms: at.Ms, ID: list.String() + "." + at.ID}
}

// CutDeliveryCursor finds the list of a [Delivery.Cursor] and the position in it.
// The zero Cursor is the start of the first list. ok is false for a malformed
// cursor.
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
// [Delivery.Cursor], from the given lists one after the other, in the order of
// DeliveryLists. badRequest: the cursor is malformed.
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
