package store

import (
	"slices"
	"strings"
)

// DeliveryWalk goes through the deliveries of an org that a filter may select, newest
// first by [Delivery.Latest].
type DeliveryWalk struct {
	Filter    DeliveryFilter
	OrgID     string
	Endpoints []Endpoint // those that the filter lets pass, in order of id
}

// WalkDeliveries begins a walk. notFound: the filter names an endpoint that the org does
// not have.
func WalkDeliveries(tx Tx, orgID string, f DeliveryFilter) (w DeliveryWalk, err error) {
	w = DeliveryWalk{Filter: f, OrgID: orgID}
	if f.Endpoint == "" {
		w.Endpoints, err = tx.Endpoints(orgID)
		return w, err
	}
	e, err := FindEndpoint(tx, orgID, f.Endpoint)
	w.Endpoints = []Endpoint{e}
	return w, err
}

// Read reads up to limit deliveries before a position, those that do not match among
// them; fewer mean the end. The zero Cursor starts at the newest.
func (w *DeliveryWalk) Read(tx Tx, before Cursor, limit int) (found []Delivery, err error) {
	if w.Filter.Query != "" {
		return w.named(tx, before, limit)
	}
	if end := CursorOf(w.Filter.Until, ""); !w.Filter.Until.IsZero() && (before.IsZero() || end.Compare(before) < 0) {
		before = end
	}
	numbers := make([]uint64, len(w.Endpoints))
	for i := range w.Endpoints {
		numbers[i] = w.Endpoints[i].Number
	}
	found, err = tx.LatestDeliveries(numbers, w.Filter.lists(), before, limit)
	old := slices.IndexFunc(found, func(d Delivery) bool { return d.ShownAt().Before(w.Filter.Since) })
	if old >= 0 {
		found = found[:old]
	}
	return found, err
}

// named reads the delivery, or the deliveries of the event, that the filter names.
func (w *DeliveryWalk) named(tx Tx, before Cursor, limit int) (found []Delivery, err error) {
	ids, err := namedDeliveries(tx, w.Filter.Query)
	for _, id := range ids {
		d, _, err := FindDelivery(tx, w.OrgID, id)
		switch {
		case IsNotFound(err): // dropped, or of a removed endpoint
		case err != nil:
			return nil, err
		case before.IsZero() || d.Latest().Compare(before) < 0:
			found = append(found, d)
		}
	}
	slices.SortFunc(found, func(a, b Delivery) int { return b.Latest().Compare(a.Latest()) })
	return found[:min(len(found), limit)], err
}

// namedDeliveries are the deliveries of an id: itself, or those of an event.
func namedDeliveries(tx Tx, id string) ([]string, error) {
	if !strings.HasPrefix(id, PrefixEvent) {
		return []string{id}, nil
	}
	event, err := tx.Event(id)
	return event.Deliveries, unlessNotFound(err)
}

// Matches reports whether the filter selects a delivery that was read.
func (w *DeliveryWalk) Matches(d Delivery) bool {
	e := w.Endpoint(&d)
	return e != nil && w.Filter.Matches(&d, e)
}

// Endpoint is that of a delivery; nil: it is not one of Endpoints.
func (w *DeliveryWalk) Endpoint(d *Delivery) *Endpoint {
	i := slices.IndexFunc(w.Endpoints, func(e Endpoint) bool { return e.Number == d.EndpointNumber })
	if i < 0 {
		return nil
	}
	return &w.Endpoints[i]
}

// lists are those that may have deliveries which the filter selects. A filter that needs
// an attempt leaves out what waits for the first.
func (f DeliveryFilter) lists() (lists []DeliveryList) {
	switch f.State {
	case "", "waiting", "pending", "retrying", "held", "leased", "unsuccessful":
		if f.Status == "" && f.State != "retrying" && f.State != "leased" && f.State != "unsuccessful" {
			lists = append(lists, ListWaiting)
		} else {
			lists = append(lists, ListAttempted)
		}
	}
	if f.State == "" || f.State == "failed" || f.State == "unsuccessful" {
		lists = append(lists, ListFailed)
	}
	if (f.State == "" || f.State == "acknowledged") && (f.Status == "" || strings.HasPrefix(f.Status, "2")) {
		lists = append(lists, ListAcknowledged)
	}
	return lists
}
