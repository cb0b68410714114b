package store

import (
	"context"
	"maps"
	"slices"
)

// ReplayPreview is what a job would replay now.
type ReplayPreview struct {
	Total      int
	More       bool           // there may be more, which were not counted
	ByEndpoint map[string]int // of Total, by the endpoints' ids
	Endpoints  []string       // those ids, in their order
}

// previewStep is how many deliveries each transaction of a preview reads.
const previewStep = 1000

// PreviewReplay counts what a job with an org, and a filter or ids, would replay, up to
// most, and reads about twice as many deliveries at most: what a filter seldom selects
// takes no longer than what it often does. It reads in small transactions, and finds more
// than a moment's only if deliveries fail meanwhile. notFound: there is no such org or
// endpoint.
func PreviewReplay(ctx context.Context, s Store, j ReplayJob, most int) (p ReplayPreview, err error) {
	p.ByEndpoint = map[string]int{}
	more := true
	for left := 2 * most; more && !p.More; left -= previewStep {
		if left <= 0 {
			p.More = true
			break
		}
		err := s.View(ctx, func(tx Tx) (err error) {
			if j.CreatedAt.IsZero() {
				if err := j.check(tx); err != nil {
					return err
				}
				j.CreatedAt = tx.Now()
			}
			more, err = j.walk(tx, min(previewStep, left), func(d *Delivery) (bool, error) {
				if p.More = p.Total == most; !p.More {
					p.Total++
					p.ByEndpoint[d.EndpointID]++
				}
				return p.More, nil
			})
			return err
		})
		if err != nil {
			return p, err
		}
	}
	p.Endpoints = slices.Sorted(maps.Keys(p.ByEndpoint))
	return p, nil
}

// walk reads about step deliveries from where the job is, calls take with those that
// it replays until it has enough, and moves on. more is false at the end.
func (j *ReplayJob) walk(tx Tx, step int, take func(*Delivery) (enough bool, err error)) (more bool, err error) {
	if j.Deliveries != nil || j.Filter.Query != "" {
		return j.walkNamed(tx, step, take)
	}
	in, err := WalkDeliveries(tx, j.OrgID, j.Filter)
	if err != nil {
		return false, unlessNotFound(err)
	}
	lists := replayLists(j.Filter.State)
	for i := range in.Endpoints {
		e := &in.Endpoints[i]
		if e.ID < j.At.Endpoint {
			continue
		}
		if j.At.Endpoint != e.ID {
			j.At = ReplayPosition{Endpoint: e.ID}
		}
		for _, list := range lists[max(slices.Index(lists, j.At.List), 0):] {
			if j.At.List != list {
				// After every id of that moment: finished ones are listed latest first, and
				// what waits and is due already is sent anyway.
				j.At.List, j.At.After = list, CursorOf(j.CreatedAt, "~")
			}
			for ended := false; !ended; {
				if step <= 0 {
					return true, nil
				}
				var n int
				if n, ended, err = j.walkList(tx, e, step, take); err != nil {
					return false, err
				}
				step -= n + 1 // an empty list takes time too
			}
		}
	}
	return false, nil
}

// replayLists are the lists that may have deliveries in a state of a filter.
func replayLists(state string) []DeliveryList {
	switch state {
	case "failed":
		return []DeliveryList{ListFailed}
	case "acknowledged":
		return []DeliveryList{ListAcknowledged}
	case "unsuccessful":
		return []DeliveryList{ListFailed, ListWaiting}
	}
	return []DeliveryList{ListWaiting}
}

// walkList reads a page of an endpoint's list, and returns how many deliveries it has,
// and whether the list ends with it. Once take has enough, that counts as a whole step.
func (j *ReplayJob) walkList(tx Tx, e *Endpoint, step int, take func(*Delivery) (bool, error)) (n int, ended bool, err error) {
	page, more, err := tx.DeliveryPage(e.Number, j.At.List, j.At.After, step)
	for i := range page {
		d := &page[i]
		if j.At.List != ListWaiting && d.FinishedAt.Before(j.Filter.Since) {
			return i + 1, true, nil // and so are all that follow
		}
		_, j.At.After = d.Position()
		if !j.takes(d, e) {
			continue
		}
		if enough, err := take(d); enough || err != nil {
			return step, false, err
		}
	}
	return len(page), !more, err
}

// walkNamed is walk for deliveries that are named, by the job or by its filter.
func (j *ReplayJob) walkNamed(tx Tx, step int, take func(*Delivery) (bool, error)) (more bool, err error) {
	ids := j.Deliveries
	if ids == nil {
		ids, err = namedDeliveries(tx, j.Filter.Query)
	}
	for enough := false; !enough && err == nil && j.At.Index < len(ids) && step > 0; step-- {
		d, e, errFind := FindDelivery(tx, j.OrgID, ids[j.At.Index])
		j.At.Index++
		if err = unlessNotFound(errFind); errFind == nil && j.takes(&d, &e) {
			enough, err = take(&d)
		}
	}
	return j.At.Index < len(ids), err
}

// takes reports whether the job replays a delivery: one that it selects, whose last
// attempt ended before it was created, and that isn't about to be sent anyway. In the
// very moment of its creation, which lasts where a test holds the clock, finished deliveries
// count too: a walk never returns to them. Waiting ones might come back, and don't count.
func (j *ReplayJob) takes(d *Delivery, e *Endpoint) bool {
	at := d.ShownAt()
	if d.State == StateLeased {
		return false
	}
	if d.State.Waiting() && (len(d.History) == 0 || !d.DueAt.After(j.CreatedAt) || !at.Before(j.CreatedAt)) {
		return false
	}
	return !at.After(j.CreatedAt) && j.Filter.Matches(d, e)
}
