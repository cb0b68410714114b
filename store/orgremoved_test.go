package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"teamdata/store"
)

// TestAnyOrg: what a new store lacks is there from the first org on, until the last one
// that was removed is forgotten.
func TestAnyOrg(t *testing.T) { onBoth(t, testAnyOrg) }

func testAnyOrg(s *subject) {
	holds := func(when string, want bool) {
		s.Helper()
		s.Read(func(tx store.Tx) error {
			found, err := tx.AnyOrg()
			s.Equal("any org, "+when, found, want)
			return err
		})
	}
	holds("in a new store", false)
	for _, id := range []string{acme, other} {
		s.Write(func(tx store.Tx) error { return tx.PutOrg(store.Org{ID: id}) })
		holds("once there is "+id, true)
	}
	s.Reopen()
	holds("reopened", true)
	s.Write(func(tx store.Tx) error { return errors.Join(tx.DeleteOrg(acme), tx.DeleteOrg(other)) })
	holds("once they are removed", true)
	s.Write(func(tx store.Tx) error { return errors.Join(tx.ForgetOrg(acme), tx.ForgetOrg(other)) })
	holds("once they are forgotten", false)
}

// TestRemovedOrg deletes an org that has records of every kind. It is not found from
// then on, nobody manages it, and its id is taken; the other org stays as it is. Once
// its data is dropped, nothing that can be read names the org or tells it from one
// that never was, and another can have its id.
func TestRemovedOrg(t *testing.T) { onBoth(t, testRemovedOrg) }

func testRemovedOrg(s *subject) {
	n := s.FillEverything()
	s.Write(func(tx store.Tx) error {
		for _, of := range []string{acme, store.OperatorKeys(acme), other} {
			if err := tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: of, Key: "more", FirstUse: tx.Now()}); err != nil {
				return err
			}
		}
		return errors.Join(tx.PutMail(store.Mail{ID: "mai_acme", OrgID: acme}), store.ImportInstructions(tx, acme, store.Instructions{Text: "Hi.", Set: true}))
	})
	others := s.DumpOrg(other)
	s.Write(deleteOrg)
	s.Code("deleted again", s.Attempt(deleteOrg), store.CodeNotFound)
	s.Code("created again", s.Attempt(createOrg(store.Org{ID: acme, Name: "Acme"})), store.CodeConflict)
	var requests store.Idempotency
	for _, of := range []string{acme, store.OperatorKeys(acme)} {
		for _, key := range []string{"more", "late"} { // of which one was answered before
			a, replayed, err := requests.Do(context.Background(), s.Store, store.InOrg(acme), store.IdempotencyKey{OrgID: of, Key: key}, store.Fingerprint{}, func(store.Tx) (store.Answer, error) {
				return store.Answer{Status: 404}, nil
			})
			s.Code("answering "+of, err, "")
			s.Equal("the answer of "+of+" to "+key, fmt.Sprint(a.Status, replayed), "404 false")
		}
		s.Read(func(tx store.Tx) error {
			_, err := tx.IdempotencyRecord(of, "late")
			s.Code("its record", err, store.CodeNotFound)
			return nil
		})
	}
	for range 2 {
		s.Read(func(tx store.Tx) error {
			_, errOrg := tx.Org(acme)
			s.Code("the org", errOrg, store.CodeNotFound)
			managed, err := tx.VisibleOrgs(ada)
			s.Equal("managed by ada", managed, []string{other})
			_, errKey := store.LoadAccess(tx, "key_1")
			s.Code("its key", errKey, store.CodeNotFound)
			return err
		})
		s.Equal("due", len(s.Due()), 0)
		s.Equal("any org", strings.Contains(s.DumpAll(n), `removedOrgs: "org_acme"`), true)
		s.Reopen()
	}

	kept := store.Retention{Finished: 1000 * time.Hour, Held: 1000 * time.Hour}
	if err := store.Sweep(context.Background(), s.Store, kept); err != nil {
		s.Fatal(err)
	}
	s.Same("the other org", s.DumpOrg(other), others)
	s.Same("the org", s.DumpOrg(acme), strings.ReplaceAll(s.DumpOrg("org_none"), "org_none", acme))
	for _, read := range strings.Split(s.DumpAll(n), "\n") {
		what, value, _ := strings.Cut(read, ": ")
		if strings.Contains(value, acme) {
			s.Errorf("%s is still %s", what, value)
		}
	}
	s.Read(func(tx store.Tx) error {
		mails, err := tx.Mails("", 1000)
		for _, m := range mails {
			s.Equal("a mail's org", m.OrgID != acme, true)
		}
		_, errAccount := tx.Account(bob)
		s.Code("the account of one who managed no other org", errAccount, store.CodeNotFound)
		_, errEve := tx.Account(eve)
		_, errOther := tx.IdempotencyRecord(other, "more")
		for _, of := range []string{acme, store.OperatorKeys(acme)} {
			keys, _, errKeys := tx.IdempotencyKeys(of, "", 1000)
			s.Equal("keys of "+of, keys, []string{})
			err = errors.Join(err, errKeys)
		}
		return errors.Join(err, errEve, errOther)
	})
	s.Write(createOrg(store.Org{ID: acme, Name: "Acme"}))
}

// TestRemovedOrgTaken drops an org's data twice at once: where one is done first, and a
// new org takes the id, the other leaves that as it is.
func TestRemovedOrgTaken(t *testing.T) { onBoth(t, testRemovedOrgTaken) }

func testRemovedOrgTaken(s *subject) {
	s.FillEverything()
	s.Write(deleteOrg)
	var taken string
	behind := &firstView{Store: s.Store, after: func() {
		if err := store.DropRemoved(context.Background(), s.Store); err != nil {
			s.Fatal(err)
		}
		s.Write(createOrg(store.Org{ID: acme, Name: "Acme"}))
		s.Write(func(tx store.Tx) error {
			return addMember(tx, store.Member{OrgID: acme, UserID: ada, Role: store.RoleOwner})
		})
		s.Write(func(tx store.Tx) error {
			return errors.Join(tx.PutAPIKey(store.APIKey{ID: "key_new", OrgID: acme, CreatedBy: ada}), tx.PutMail(store.Mail{ID: "mai_new", OrgID: acme}),
				tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: acme, Key: "new", FirstUse: tx.Now()}),
				store.ImportInstructions(tx, acme, store.Instructions{Text: "Hi.", Set: true}))
		})
		taken = s.DumpOrg(acme)
	}}
	if err := store.DropRemoved(context.Background(), behind); err != nil || taken == "" {
		s.Fatal(taken, err)
	}
	s.Same("the new org", s.DumpOrg(acme), taken)
	s.Read(func(tx store.Tx) error {
		_, err := tx.IdempotencyRecord(acme, "new")
		s.Code("its idempotency record", err, "")
		mails, err := tx.Mails("", 1000)
		s.Equal("its mail is there", slices.ContainsFunc(mails, func(m store.Mail) bool { return m.ID == "mai_new" }), true)
		return err
	})
}

func deleteOrg(tx store.Tx) error { return store.DeleteOrg(tx, acme) }

// firstView calls after once, after the first View.
type firstView struct {
	store.Store
	after func()
}

func (i *firstView) View(ctx context.Context, fn func(store.Tx) error) error {
	err := i.Store.View(ctx, fn)
	if after := i.after; after != nil {
		i.after = nil
		after()
	}
	return err
}

// TestLongInstructions keeps the longest text that the rules let through.
func TestLongInstructions(t *testing.T) { onBoth(t, testLongInstructions) }

func testLongInstructions(s *subject) {
	long := store.Instructions{Text: strings.Repeat("🚀", 64<<10), UpdatedAt: someTime, Set: true} // 256 KiB
	holds := func() {
		s.Read(func(tx store.Tx) error {
			got, err := tx.Instructions(acme)
			s.Equal("the long text is as it was", got == long, true)
			return err
		})
	}
	s.Write(func(tx store.Tx) error { return tx.PutInstructions(acme, long) })
	holds()
	s.Reopen()
	holds()
}
