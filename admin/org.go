package admin

import (
	"errors"
	"strings"

	"teamdata/client/admin/api"
	"teamdata/store"
	"teamdata/wire/web"
)

func orgJSON(o store.Org) []byte {
	return newObject().text("id", o.ID).text("name", o.Name).time("createdAt", o.CreatedAt).
		raw("subscription", subscriptionJSON(o.Subscription)).end()
}

func subscriptionJSON(s store.Subscription) []byte {
	return newObject().text("id", s.ID).text("product", s.Product).text("plan", s.Plan).
		text("interval", s.Interval).text("status", s.Status).end()
}

func (r *request) listOrgs() error {
	return r.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		orgs, err := tx.Orgs(q.After.ID, q.Limit+1)
		return pageOf(orgs, 0, q, func(o store.Org) string { return o.ID }, orgJSON), err
	})
}

func (r *request) createOrg() error {
	body := decode[api.NewOrg](r)
	o := store.Org{ID: orZero(body.ID), Name: body.Name, Subscription: subscriptionOf(api.SubscriptionChange(orZero(body.Subscription)))}
	return r.idempotent(func(tx store.Tx) (store.Answer, error) {
		o, err := store.CreateOrg(tx, r.actor, o)
		return created(orgJSON(o)), r.operated(err, tx, "org.created", o.ID)
	})
}

func subscriptionOf(s api.SubscriptionChange) store.Subscription {
	return store.Subscription{ID: orZero(s.ID), Product: orZero(s.Product), Plan: orZero(s.Plan), Interval: orZero(s.Interval), Status: orZero(s.Status)}
}

func (r *request) readOrg() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		o, err := tx.Org(r.org())
		return ok(orgJSON(o)), err
	})
}

func (r *request) updateOrg() error {
	name := decode[api.OrgChange](r).Name
	return r.update(func(tx store.Tx) (store.Answer, error) {
		o, err := store.RenameOrg(tx, r.actor, r.org(), name)
		return ok(orgJSON(o)), err
	})
}

// deleteOrg removes an org at once; a sweep drops its data.
func (r *request) deleteOrg() error {
	r.beyond = store.All // the operator's log
	err := r.remove("org.deleted", r.org(), store.DeleteOrg)
	if removed := r.api.config.Removed; err == nil && removed != nil {
		removed()
	}
	return err
}

func (r *request) readSubscription() error {
	return r.view(func(tx store.Tx) (store.Answer, error) {
		o, err := tx.Org(r.org())
		return ok(subscriptionJSON(o.Subscription)), err
	})
}

func (r *request) updateSubscription() error {
	s := subscriptionOf(decode[api.SubscriptionChange](r))
	return r.update(func(tx store.Tx) (store.Answer, error) {
		s, err := store.ChangeSubscription(tx, r.actor, r.org(), s)
		return ok(subscriptionJSON(s)), atTop(err)
	})
}

// atTop names the field of an error where the subscription is the whole body.
func atTop(err error) error {
	e, ok := errors.AsType[*store.Error](err)
	if !ok {
		return err
	}
	top := *e
	top.Field = strings.TrimPrefix(e.Field, "subscription.")
	return &top
}
