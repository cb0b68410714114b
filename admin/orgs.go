package admin

import (
	"errors"
	"strings"

	"teamdata/internal/strictjson"
	"teamdata/internal/web"
	"teamdata/store"
)

func orgJSON(o store.Org) []byte {
	return newObject().text("id", o.ID).text("name", o.Name).time("createdAt", o.CreatedAt).
		raw("subscription", subscriptionJSON(o.Subscription)).end()
}

func subscriptionJSON(s store.Subscription) []byte {
	return newObject().text("id", s.ID).text("product", s.Product).text("plan", s.Plan).
		text("interval", s.Interval).text("status", s.Status).end()
}

func (x *exchange) listOrgs() error {
	return x.page(func(tx store.Tx, q web.PageQuery) (store.Page, error) {
		orgs, err := tx.Orgs(q.After.ID, q.Limit+1)
		return pageOf(itemsOf(orgs, 0, func(o store.Org) string { return o.ID }, orgJSON), q), err
	})
}

func (x *exchange) createOrg() error {
	var o store.Org
	r := x.in
	err := r.Document(r.Text("id", &o.ID), r.Text("name", &o.Name), r.Object("subscription", subscriptionFields(r, &o.Subscription)...))
	if err != nil {
		return err
	}
	return x.once(func(tx store.Tx) (store.Answer, error) {
		o, err := store.CreateOrg(tx, x.actor, o)
		return created(orgJSON(o)), err
	})
}

func subscriptionFields(r *strictjson.Reader, s *store.Subscription) []strictjson.Field {
	return []strictjson.Field{
		r.Text("id", &s.ID), r.Text("product", &s.Product), r.Text("plan", &s.Plan),
		r.Text("interval", &s.Interval), r.Text("status", &s.Status),
	}
}

func (x *exchange) readOrg() error {
	return x.read(func(tx store.Tx) (store.Answer, error) {
		o, err := tx.Org(x.org())
		return ok(orgJSON(o)), err
	})
}

func (x *exchange) renameOrg() error {
	var name string
	if err := x.in.Document(x.in.Text("name", &name)); err != nil {
		return err
	}
	return x.change(func(tx store.Tx) (store.Answer, error) {
		o, err := store.RenameOrg(tx, x.actor, x.org(), name)
		return ok(orgJSON(o)), err
	})
}

func (x *exchange) readSubscription() error {
	return x.read(func(tx store.Tx) (store.Answer, error) {
		o, err := tx.Org(x.org())
		return ok(subscriptionJSON(o.Subscription)), err
	})
}

func (x *exchange) changeSubscription() error {
	var s store.Subscription
	if err := x.in.Document(subscriptionFields(x.in, &s)...); err != nil {
		return err
	}
	return x.change(func(tx store.Tx) (store.Answer, error) {
		s, err := store.ChangeSubscription(tx, x.actor, x.org(), s)
		return ok(subscriptionJSON(s)), atTop(err)
	})
}

// atTop is an error of a subscription that is the whole body.
func atTop(err error) error {
	var e *store.Error
	if !errors.As(err, &e) {
		return err
	}
	top := *e
	top.Field = strings.TrimPrefix(e.Field, "subscription.")
	return &top
}
