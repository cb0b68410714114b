package boltstore

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"teamdata/store"
)

// writes is every kind of write that an undo has to take back.
var writes = map[string]func(tx store.Tx) error{
	"put over": func(tx store.Tx) error {
		return tx.PutOrg(store.Org{ID: testOrg, Name: "Another name"})
	},
	"put over twice": func(tx store.Tx) error {
		return errors.Join(
			tx.PutOrg(store.Org{ID: testOrg, Name: "Another name"}),
			tx.PutOrg(store.Org{ID: testOrg, Name: "A third"}),
		)
	},
	"put new": func(tx store.Tx) error {
		return tx.PutCertificate("new", []byte("pem"))
	},
	"put new, then over": func(tx store.Tx) error {
		return errors.Join(tx.PutCertificate("new", []byte("pem")), tx.PutCertificate("new", []byte("pem 2")))
	},
	"insert": func(tx store.Tx) error {
		_, err := store.SendTest(tx, testOrg, "whe_1")
		return err
	},
	"delete":          func(tx store.Tx) error { return tx.DeleteMember(testOrg, "usr_member") },
	"delete an owner": func(tx store.Tx) error { return tx.DeleteMember(testOrg, "usr_owner") },
	"delete, then insert": func(tx store.Tx) error {
		if err := tx.DeleteMember(testOrg, "usr_owner"); err != nil {
			return err
		}
		_, err := tx.AppendMember(store.Member{OrgID: testOrg, UserID: "usr_owner", Role: store.RoleAdmin})
		return err
	},
	"an owner no more": func(tx store.Tx) error {
		m, err := tx.Member(testOrg, "usr_owner")
		if err != nil {
			return err
		}
		m.Role = store.RoleMember
		return tx.PutMember(m)
	},
	"due entry moved":   attempted(store.Attempt{Reason: "refused"}),
	"due entry removed": attempted(store.Attempt{Status: 200}),
	"due entry removed and put back": func(tx store.Tx) error {
		d, err := tx.Delivery("whd_1")
		if err != nil {
			return err
		}
		return tx.PutDelivery(d)
	},
	"disabled by its last attempt": func(tx store.Tx) error {
		if err := tx.PutLastAcknowledged(1, tx.Now().Add(-time.Hour)); err != nil {
			return err
		}
		a := store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Reason: "refused"}
		disabled, err := store.RecordAttempt(tx, "whd_1", a, nil)
		if !disabled {
			return errors.New("is not disabled")
		}
		return err
	},
	"delivery dropped with its event": func(tx store.Tx) error { return tx.DeleteDelivery("whd_1") },
	"delivery in its event's record attempted and dropped": func(tx store.Tx) error {
		d, err := store.SendTest(tx, testOrg, "whe_1")
		_, errAttempt := store.RecordAttempt(tx, d.ID, store.Attempt{StartedAt: tx.Now(), EndedAt: tx.Now(), Status: 200}, nil)
		return errors.Join(err, errAttempt, tx.DeleteDelivery(d.ID))
	},
	"mail new, over, gone": func(tx store.Tx) error {
		return errors.Join(
			tx.PutMail(store.Mail{ID: "mai_new"}), tx.PutMail(store.Mail{ID: "mai_new", Attempts: 1}), tx.DeleteMail("mai_old"),
		)
	},
	"secret rotated": func(tx store.Tx) error {
		_, err := store.RotateSecret(tx, "", testOrg, "whe_1", "", time.Hour)
		return err
	},
	"endpoint removed": func(tx store.Tx) error {
		if err := tx.PutLastAcknowledged(1, tx.Now()); err != nil {
			return err
		}
		return store.RemoveEndpoint(tx, "", testOrg, "whe_1")
	},
	"endpoint removed, dropped, made again": func(tx store.Tx) error {
		e, err := tx.Endpoint(testOrg, "whe_1")
		_, errAgain := tx.AddEndpoint(store.Endpoint{OrgID: testOrg, ID: "whe_2"})
		return errors.Join(err, errAgain, tx.DeleteEndpoint(e),
			tx.DeleteDelivery("whd_1"), tx.PutLastAcknowledged(1, tx.Now()), tx.ForgetEndpoint(1))
	},
	"key new, then over": func(tx store.Tx) error {
		k := store.APIKey{ID: "key_1", OrgID: testOrg}
		return errors.Join(tx.PutAPIKey(k), tx.PutAPIKey(k))
	},
	"settings new, over, gone": func(tx store.Tx) error {
		return errors.Join(
			tx.PutPlan(store.Plan{Name: "new"}), tx.DeletePlan("new"), tx.DeletePlan("none"),
			tx.PutEventType(store.EventType{Name: "new"}), tx.PutEventType(store.EventType{Name: "new"}), tx.DeleteEventType("new"),
			tx.PutOperatorToken(store.OperatorToken{ID: "new"}), tx.DeleteOperatorToken("new"), tx.PutOperatorToken(store.OperatorToken{ID: "new"}),
		)
	},
	"account new, over, signed in": func(tx store.Tx) error {
		_, token, err := store.CreateSignInLink(tx, testOrg, "usr_owner", time.Hour)
		_, errUsed := store.UseSignInLink(tx, token, "hash", false)
		_, _, errSession := store.CreateSession(tx, "usr_owner", "")
		return errors.Join(err, errUsed, errSession)
	},
	"account new, gone": func(tx store.Tx) error {
		a := store.Account{UserID: "usr_new", Email: "A@example.com", Sessions: []string{"ses_1"}}
		return errors.Join(tx.PutAccount(a), tx.PutSession(store.Session{ID: "ses_1"}), tx.DeleteSession("ses_1"), tx.DeleteAccount("usr_new"))
	},
	"counts new, over, dropped": func(tx store.Tx) error {
		count := func(at time.Time) error {
			return tx.AddDeliveryCounts(testOrg, 1, at, store.DeliveryCounts{Failed: 1})
		}
		_, err := tx.DropDeliveryCounts(tx.Now(), 10)
		return errors.Join(count(tx.Now()), count(tx.Now()), count(epoch), err, tx.PutKeyUse("key_1", store.KeyUse{LastUsedAt: tx.Now()}))
	},
	"record in a partition": func(tx store.Tx) error {
		return tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: testOrg, Key: "key 2", FirstUse: tx.Now()})
	},
	"expired record": func(tx store.Tx) error {
		n, err := tx.ExpireIdempotencyRecords(10)
		if n != 1 {
			return errors.New("nothing has expired")
		}
		return err
	},
}

func attempted(a store.Attempt) func(store.Tx) error {
	return func(tx store.Tx) error {
		a.StartedAt, a.EndedAt = tx.Now(), tx.Now()
		_, err := store.RecordAttempt(tx, "whd_1", a, store.DefaultRetrySchedule)
		return err
	}
}

// newFilled is a store with something to write over.
func newFilled(t *testing.T) *fixture {
	f := newFixture(t, Options{NoSync: true})
	f.update(func(tx store.Tx) error {
		for _, m := range []store.Member{
			{OrgID: testOrg, UserID: "usr_owner", Role: store.RoleOwner, Email: "owner@acme.example"},
			{OrgID: testOrg, UserID: "usr_member", Role: store.RoleMember},
		} {
			if _, err := tx.AppendMember(m); err != nil {
				return err
			}
		}
		return errors.Join(
			tx.AddEvent(store.Event{ID: "evt_1", OrgID: testOrg, Deliveries: []string{"whd_1"}}, []store.Delivery{{
				ID: "whd_1", EventID: "evt_1", OrgID: testOrg, EndpointID: "whe_1", EndpointNumber: 1, State: store.StatePending, DueAt: tx.Now(),
			}}),
			tx.PutMail(store.Mail{ID: "mai_old"}),
			tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: testOrg, Key: "old", FirstUse: tx.Now().Add(-48 * time.Hour)}),
			tx.AddIdempotencyRecord(store.IdempotencyRecord{OrgID: testOrg, Key: "key 1", FirstUse: tx.Now()}),
		)
	})
	return f
}

var failures = map[string]struct {
	end  func() error
	says string
}{
	"error": {func() error { return errors.New("on purpose") }, "on purpose"},
	"panic": {func() error { panic("on purpose") }, "panic in a transaction: on purpose"},
}

func TestUndoneAlone(t *testing.T) {
	for what, write := range writes {
		for how, failure := range failures {
			t.Run(what+", "+how, func(t *testing.T) {
				undoneAlone(t, write, failure.end, failure.says)
			})
		}
	}
}

// undoneAlone lets a write fail between two that pass, and finds what those two
// wrote and nothing else changed.
func undoneAlone(t *testing.T, write func(store.Tx) error, end func() error, says string) {
	f := newFilled(t)
	before := f.dump()
	errs := f.batch(
		func(tx store.Tx) error { return tx.PutCertificate("a", []byte("1")) },
		func(tx store.Tx) error {
			if err := write(tx); err != nil {
				t.Error(err)
			}
			return end()
		},
		func(tx store.Tx) error { return tx.PutCertificate("b", []byte("2")) },
	)
	if errs[0] != nil || errs[2] != nil {
		t.Errorf("the others: %v, %v", errs[0], errs[2])
	}
	if errs[1] == nil || !strings.Contains(errs[1].Error(), says) {
		t.Errorf("the failing one: %v", errs[1])
	}
	f.close()
	wellKept(t, f.path)
	f.open(Options{})
	after := f.dump()
	for _, passed := range []string{`certificates "a" = "1"` + "\n", `certificates "b" = "2"` + "\n"} {
		if !strings.Contains(after, passed) {
			t.Errorf("%s is not there", passed)
		}
		after = strings.Replace(after, passed, "", 1)
	}
	if before != after {
		t.Errorf("it left\n%s\nwhere there was\n%s", after, before)
	}
}

// TestUndoShowsNothing: a closure that follows a failed one in the batch sees
// nothing of it.
func TestUndoShowsNothing(t *testing.T) {
	for what, write := range writes {
		t.Run(what, func(t *testing.T) {
			f := newFilled(t)
			var seen [2]string
			look := func(i int) func(store.Tx) error {
				return func(st store.Tx) error {
					var b strings.Builder
					defer func() { seen[i] = b.String() }()
					return ownTx(st).bolt.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
						return dumpBucket(&b, string(name), bucket)
					})
				}
			}
			f.batch(look(0), func(tx store.Tx) error { return errors.Join(write(tx), errors.New("on purpose")) }, look(1))
			if seen[0] == "" || seen[0] != seen[1] {
				t.Errorf("before\n%s\nafter\n%s", seen[0], seen[1])
			}
		})
	}
}
