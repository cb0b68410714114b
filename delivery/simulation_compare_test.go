package delivery_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"teamdata/store"
)

// compare compares all that the store has with what was committed: nothing more
// may be there, and nothing less. Nobody writes meanwhile.
func (w *world) compare() {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.store.View(context.Background(), func(tx store.Tx) error {
		for _, o := range w.orgs {
			if err := w.compareOrg(tx, o); err != nil {
				return err
			}
		}
		for _, e := range w.endpoints {
			if err := w.compareEndpoint(tx, e); err != nil {
				return err
			}
		}
		if err := w.compareRemoved(tx); err != nil {
			return err
		}
		return w.compareMails(tx)
	})
	if err != nil {
		w.breaksLocked(commits, "the store can't be read: %v", err)
	}
}

func (w *world) compareOrg(tx store.Tx, o *org) error {
	page, err := tx.AuditPage(o.id, store.Cursor{}, len(o.audit)+1, []byte("["))
	if err != nil {
		return err
	}
	var entries []struct{ ID string }
	if err := json.Unmarshal(append(page.Items, ']'), &entries); err != nil {
		return err
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.ID)
	}
	w.agree(o.id+"'s audit log", got, o.audit)
	for user, p := range o.people {
		m, err := tx.Member(o.id, user)
		if err != nil && !store.IsNotFound(err) {
			return err
		}
		if err != nil || m.Role != p.role || m.Email != p.address {
			w.breaksLocked(commits, "the member %s is %s at %q, not %v: %v", user, m.Role, m.Email, p, err)
		}
	}
	is, err := tx.Org(o.id)
	if o.plan != "" && is.Subscription.Plan != o.plan {
		w.breaksLocked(commits, "%s has the plan %s, not %s", o.id, is.Subscription.Plan, o.plan)
	}
	return err
}

func (w *world) compareEndpoint(tx store.Tx, e *endpoint) error {
	if is, err := tx.Endpoint(e.orgID, e.id); e.removedBy == nil {
		if err != nil {
			return err
		}
		w.sameEndpoint(commits, "a start", e, &is)
	}
	if last, err := tx.LastAcknowledged(e.number); err != nil || !last.Equal(e.lastAcked) && !e.forgotten {
		w.breaksLocked(disabling, "%s acknowledged last at %s; the store says %s, %v", e.name, e.lastAcked, last, err)
	}
	var got, want []string
	for _, list := range []store.DeliveryList{store.ListAcknowledged, store.ListWaiting, store.ListLeased, store.ListFailed} {
		page, _, err := tx.DeliveryPage(e.number, list, store.Cursor{}, len(w.deliveries)+1)
		if err != nil {
			return err
		}
		for _, d := range page {
			got = append(got, d.ID+" "+at(&d))
		}
	}
	for _, p := range w.deliveries {
		if p.to == e && !p.gone {
			want = append(want, p.id+" "+p.must())
		}
	}
	w.agree(e.name+"'s deliveries", sorted(got), sorted(want))
	return nil
}

// compareRemoved looks for the endpoints that something is left of, and for those
// that are there.
func (w *world) compareRemoved(tx store.Tx) error {
	var got, want []string
	removed, err := tx.RemovedEndpoints(len(w.endpoints) + 1)
	for _, number := range removed {
		got = append(got, fmt.Sprint("removed ", number))
	}
	for _, o := range w.orgs {
		endpoints, errList := tx.Endpoints(o.id)
		err = errors.Join(err, errList)
		for _, e := range endpoints {
			got = append(got, fmt.Sprint(o.id, " has ", e.Number))
		}
		for _, e := range o.endpoints {
			want = append(want, fmt.Sprint(o.id, " has ", e.number))
		}
	}
	for _, e := range w.endpoints {
		if e.removedBy != nil && !e.forgotten {
			want = append(want, fmt.Sprint("removed ", e.number))
		}
	}
	w.agree("the endpoints", sorted(got), sorted(want))
	return err
}

func (w *world) compareMails(tx store.Tx) error {
	mails, err := tx.Mails("", len(w.mails)+1)
	var got, want []string
	for _, m := range mails {
		got = append(got, fmt.Sprintf("%s to %s, %d tries", m.ID, m.To, m.Attempts))
	}
	for _, l := range w.mails {
		if !l.gone {
			want = append(want, fmt.Sprintf("%s to %s, %d tries", l.id, l.to, l.tries))
		}
	}
	w.agree("the mail", sorted(got), sorted(want))
	return err
}

// agree tells what is in one list alone.
func (w *world) agree(what string, got, want []string) {
	if slices.Equal(got, want) {
		return
	}
	w.breaksLocked(commits, "%s in the file: %d, committed: %d; too much is %q, missing is %q",
		what, len(got), len(want), without(got, want), without(want, got))
}

func without(all, some []string) (rest []string) {
	for _, x := range all {
		if !slices.Contains(some, x) {
			rest = append(rest, x)
		}
	}
	return rest
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}
