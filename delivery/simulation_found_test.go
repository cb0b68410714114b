package delivery_test

import (
	"context"
	"fmt"
	"math/rand/v2"

	"teamdata/store"
)

// found makes the orgs, their managers and their endpoints.
func (w *world) found() {
	w.desk = &desk{}
	err := w.store.Update(context.Background(), func(tx store.Tx) error {
		for i := range 2 + w.IntN(2) {
			if err := w.foundOrg(tx, fmt.Sprintf("org_%d", i+1)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) foundOrg(tx store.Tx, id string) error {
	o := &org{id: id, people: map[string]*person{}}
	w.orgs = append(w.orgs, o)
	if _, err := store.ImportOrg(tx, store.Org{ID: id, Name: id}); err != nil {
		return err
	}
	for _, role := range []string{store.RoleOwner, store.RoleAdmin} {
		m := store.Member{OrgID: id, UserID: "usr_" + role, Role: role, Email: role + "@" + id + ".example"}
		o.people[m.UserID] = &person{m.Role, m.Email}
		if _, err := store.ImportMember(tx, m); err != nil {
			return err
		}
	}
	for range 1 + w.IntN(2) {
		o.readers = append(o.readers, &poller{org: o})
	}
	for range 1 + w.IntN(3) {
		if err := w.foundEndpoint(tx, o); err != nil {
			return err
		}
	}
	return nil
}

func (w *world) foundEndpoint(tx store.Tx, o *org) error {
	e, wish := w.newEndpoint(o)
	made, err := store.ImportEndpoint(tx, wish)
	w.begins(nil, o, e, made)
	return err
}

// someOf is the first of the names, or some of them; each once.
func someOf(r *rand.Rand, names ...string) []string {
	some := names[:1]
	for _, name := range names[1:] {
		if name != names[0] && r.IntN(2) == 0 {
			some = append(some[:len(some):len(some)], name)
		}
	}
	return some[min(r.IntN(3), len(some)-1):]
}
