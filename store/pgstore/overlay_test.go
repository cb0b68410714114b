package pgstore

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"teamdata/e2e/kit"
	"teamdata/e2e/kit/postgres"
	"teamdata/store"
	"teamdata/store/engine"
)

// A row that was new when an update began is new again once that has failed, however
// often it was sent.
func TestRowSentTwice(t *testing.T) {
	o, plans := newOverlay(), kindTable("plans")
	key := row{[]byte("pro")}
	write := func(record string) { o.write(plans, key, append(key[:1:1], []byte(record)), false) }
	o.loaded(plans, key, nil)
	o.begin()
	write("first")
	o.begin()
	for _, record := range []string{"second", "third"} {
		o.flushEarly([]*table{plans})
		write(record)
	}
	o.flushEarly([]*table{plans})
	o.rollback()
	queries := o.flushAll()
	last := queries[len(queries)-1]
	if !strings.HasPrefix(last.sql, "INSERT ") || !strings.Contains(string(last.values[1]), "first") {
		t.Errorf("sent is %s with %q", last.sql, last.values)
	}
}

// An update of a row that is not there any more is no success: nothing of its group is
// committed, and all are told.
func TestUpdatedRowIsGone(t *testing.T) {
	database := WithTables(t)
	s := opened(t, database)
	defer s.Close()
	put := func(tx store.Tx, name string) error {
		if _, err := tx.Plan(name); err != nil && !store.IsNotFound(err) {
			return err
		}
		return tx.PutPlan(store.Plan{Name: name, Features: store.FeatureAPI})
	}
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error { return put(tx, "pro") }))
	for what, early := range map[string]bool{"with the commit": false, "before a query": true} {
		t.Run(what, func(t *testing.T) {
			all := func(fn func(store.Tx) error) *engine.Update { return &engine.Update{Ctx: bg, Scope: store.All, Fn: fn} }
			group := []*engine.Update{
				all(func(tx store.Tx) error { return put(tx, "other") }),
				all(func(tx store.Tx) error {
					err := put(tx, "pro")
					postgres.Exec(t, database, "DELETE FROM plans")
					if early && err == nil {
						_, err = tx.Plans()
					}
					return err
				}),
			}
			s.commit(group)
			for i, u := range group {
				if got := fmt.Sprint(u.Err); !strings.Contains(got, "updated only 0 of 1 rows of plans") || store.CodeOf(u.Err) != store.CodeInternal {
					t.Errorf("update %d is told %s", i, got)
				}
			}
			if n := postgres.Exec(t, database, "SELECT count(*) FROM plans")[0][0]; n != "0" {
				t.Errorf("%s plans were committed", n)
			}
			for range 2 { // makes it, then updates it
				if err := s.Update(bg, store.All, func(tx store.Tx) error { return put(tx, "pro") }); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Of the updates of a group that change the same records, those that fail leave nothing, to
// the ones that follow them either.
func TestUndoneAlone(t *testing.T) {
	s := opened(t, WithTables(t))
	defer s.Close()
	const org, ada, bob = "org_1", "usr_ada", "usr_bob"
	kit.Must(t, s.Update(bg, store.All, func(tx store.Tx) error {
		_, errOrg := store.ImportOrg(tx, store.Org{ID: org, Name: "One"})
		_, errMember := store.ImportMember(tx, store.Member{OrgID: org, UserID: ada, Role: store.RoleOwner})
		_, errEndpoint := store.ImportEndpoint(tx, store.Endpoint{ID: "whe_1", OrgID: org, URL: "https://receiver.example", Events: []string{"*"}})
		return errors.Join(errOrg, errMember, errEndpoint)
	}))
	var sent store.Delivery
	read := func(tx store.Tx) error {
		d, err := tx.Delivery(sent.ID)
		if d.Attempts != 0 || !d.DueAt.Equal(sent.DueAt) {
			t.Errorf("the delivery is %+v", d)
		}
		_, errMember := tx.Member(org, bob)
		pem, errPEM := tx.Certificate("a")
		if string(pem) != "first" {
			t.Errorf("the certificate is %q", pem)
		}
		return errors.Join(err, errMember, errPEM)
	}
	failing := func(end func() error) func(store.Tx) error {
		return func(tx store.Tx) error {
			_, err := store.RecordAttempt(tx, sent.ID, store.Attempt{Status: 204}, nil)
			if err = errors.Join(err, store.RemoveMember(tx, ada, org, bob), tx.PutCertificate("a", []byte("changed"))); err != nil {
				t.Error(err)
			}
			return end()
		}
	}
	var group []*engine.Update
	for _, fn := range []func(store.Tx) error{
		func(tx store.Tx) (err error) {
			sent, err = store.SendTest(tx, org, "whe_1")
			_, errMember := store.AddMember(tx, ada, store.Member{OrgID: org, UserID: bob, Role: store.RoleMember})
			return errors.Join(err, errMember, tx.PutCertificate("a", []byte("first")))
		},
		failing(func() error { return errors.New("on purpose") }),
		failing(func() error { panic("on purpose") }),
		read,
	} {
		group = append(group, &engine.Update{Ctx: bg, Scope: store.All, Fn: fn})
	}
	s.commit(group)
	for i, u := range group {
		if fails := i == 1 || i == 2; (u.Err != nil) != fails || fails && !strings.Contains(u.Err.Error(), "on purpose") {
			t.Errorf("update %d: %v", i, u.Err)
		}
	}
	kit.Must(t, s.View(bg, read))
}
