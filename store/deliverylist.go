package store

import "time"

// DeliveryList is one of the lists that each endpoint's deliveries are in.
type DeliveryList uint8

// The lists, and their order in [Tx.DeliveryPage].
const (
	ListAcknowledged DeliveryList = iota + 1 // latest first
	ListWaiting                              // earliest due first
	ListFailed                               // latest first
)

// DeliveryLists are those that a delivery waits or ends in; see also ListLeased.
var DeliveryLists = []DeliveryList{ListWaiting, ListFailed, ListAcknowledged}

// ListAttempted has the deliveries of ListWaiting that were attempted, by the end of
// the last attempt, latest first, and those of ListLeased, by when they were pulled.
// [Tx.LatestDeliveries] reads it.
const ListAttempted DeliveryList = 4

// ListLeased has the deliveries that are leased, the lease that ends first comes first.
const ListLeased DeliveryList = 5

// ShownAt returns the time that people see of a delivery, and by which lists of
// several states are ordered: the end of its last attempt, when it was leased, or when it
// was queued if there was neither yet, which is mostly when it was created.
func (d *Delivery) ShownAt() time.Time {
	switch {
	case d.State.Finished():
		return d.FinishedAt
	case d.State == StateLeased:
		return d.Lease().GrantedAt
	case len(d.History) > 0:
		return toMillisecond(d.History[len(d.History)-1].EndedAt)
	}
	return d.DueAt
}

// Latest is the delivery's position in [Tx.LatestDeliveries].
func (d *Delivery) Latest() Cursor { return CursorOf(d.ShownAt(), d.ID) }

// Attempted is the delivery's position in ListAttempted, if it is there.
func (d *Delivery) Attempted() (at Cursor, ok bool) {
	return d.Latest(), d.State == StateLeased || d.State.Waiting() && len(d.History) > 0
}

// Position returns the delivery's list and its position there: by due time, by the end of
// its lease, or by the time when it finished.
func (d *Delivery) Position() (DeliveryList, Cursor) {
	switch d.State {
	case StateAcknowledged:
		return ListAcknowledged, CursorOf(d.FinishedAt, d.ID)
	case StateFailed:
		return ListFailed, CursorOf(d.FinishedAt, d.ID)
	case StateLeased:
		return ListLeased, CursorOf(d.Lease().EndsAt, d.ID)
	}
	return ListWaiting, CursorOf(d.DueAt, d.ID)
}
