package storetest

import (
	"errors"
	"fmt"
	"maps"

	"teamdata/store"
)

var errFailing = errors.New("this transaction is to fail")

// everyName are the names that changeEverything uses, of what isn't rows or isn't shown
// as such.
var everyName = Names{
	"org": {acme, other, "org_new"}, "record": {"one", "two", "new"},
	store.PrefixEvent: {"evt_1", "evt_2", "evt_3", "evt_4"}, store.PrefixDelivery: {"whd_1", "whd_2", "whd_3", "whd_4"},
}

// FillEverything writes records of every kind: what Fill does, and what no rule
// of one Update writes. It returns their names.
func (s *Subject) FillEverything() Names {
	n := maps.Clone(everyName)
	s.Write(func(tx store.Tx) error {
		r, given := watch(tx)
		err := Fill(r)
		gone, errGone := store.ImportEndpoint(r, newEndpoint(acme, "whe_3"))
		kept, errKept := r.Endpoint(acme, "whe_1")
		err = errors.Join(err, errGone, errKept, putBeside(r, "before", "kept", "dropped"),
			addFinished(r, gone, 3), addFinished(r, kept, 4), reserveAttempts(acme, "whe_1")(r), r.PutLastAcknowledged(gone.Number, someTime), removeEndpoint(acme, "whe_3")(r),
			createKey(r, "key_2"), addRecord(r, "one"), addRecord(r, "two"),
			r.PutInstructions(acme, store.Instructions{Text: "Hi.", Set: true}), addMember(store.Member{OrgID: acme, UserID: "usr_gone", Role: store.RoleMember})(r), removeMember(acme, "usr_gone")(r),
			createOrg(store.Org{ID: "org_gone", Name: "Gone"})(r), deleteOrg("org_gone")(r),
			r.PutMail(store.Mail{ID: "mai_1", To: "a"}), r.PutMail(store.Mail{ID: "mai_2", To: "b"}),
			r.PutReplayJob(store.ReplayJob{ID: "rpl_1", OrgID: acme, State: store.ReplayRunning}), r.PutReplayJob(store.ReplayJob{ID: "rpl_2", OrgID: acme}),
			r.AddDeliveryCounts(acme, 1, r.Now(), store.DeliveryCounts{Failed: 1}))
		n.given(given.ids)
		return err
	})
	return n
}

// changeEverything adds, changes and removes records of every kind: it runs all
// rules but the last, of which some are refused after others, and does what no rule
// does.
func changeEverything(tx store.Tx) error {
	done := 0
	for _, rule := range Rules[:len(Rules)-1] {
		switch err := rule.Do(tx); store.CodeOf(err) {
		case "":
			done++
		case store.CodeInternal, store.CodeUnavailable:
			return fmt.Errorf("%s: %w", rule.Name, err)
		}
	}
	removed, err := tx.RemovedEndpoints(10) // by a rule, and before: whe_3
	if err != nil || len(removed) == 0 || done < len(Rules)*2/3 {
		return fmt.Errorf("removed are %v, and %d rules of %d are done: %w", removed, done, len(Rules), err)
	}
	_, errPostpone := store.PostponeMail(tx, store.Mail{ID: "mai_1", To: "a", CreatedAt: tx.Now()}, store.DefaultMailSchedule)
	_, errExpire := tx.ExpireIdempotencyRecords(100)
	_, errDropped := tx.DropDeliveryCounts(tx.Now(), 100)
	return errors.Join(errPostpone, errExpire, errDropped, putBeside(tx, "after", "kept", "added"), warned(tx), tx.DeleteAPIKey("dropped"),
		tx.DeleteDelivery("whd_3"), tx.DeleteDelivery("whd_4"), tx.ForgetEndpoint(removed[len(removed)-1]),
		tx.PutMail(store.Mail{ID: "mai_3", To: "c"}), tx.DeleteMail("mai_2"),
		tx.PutReplayJob(store.ReplayJob{ID: "rpl_3", OrgID: acme}), tx.DeleteReplayJob("rpl_2"),
		tx.PutLastAcknowledged(2, someTime), addRecord(tx, "new"),
		store.AddKeyUse(tx, "key_2", store.KeyUse{LastUsedAt: tx.Now()}),
		tx.AddDeliveryCounts(acme, 1, tx.Now(), store.DeliveryCounts{Failed: 1}), tx.AddDeliveryCounts(other, 1, someTime, store.DeliveryCounts{Failed: 1}),
		tx.DeleteAPIKey("key_2"), tx.DeleteIdempotencyRecord(acme, "two"),
		deleteOrg("org_new")(tx), tx.ForgetOrg("org_new"), tx.ForgetOrg("org_gone"),
		deleteOrg(other)(tx), second(tx.DropAuditLog(other, 1)), second(tx.DropDeliveryCountsOf(other, 100)))
}

// putBeside puts certificates, and what is kept beside API keys of these ids.
func putBeside(tx store.Tx, text string, names ...string) (err error) {
	for _, name := range names {
		err = errors.Join(err, tx.PutCertificate(name, []byte(text+name)), putKeyUse(name, Values{Text: text, Time: someTime})(tx))
	}
	return err
}

// addFinished adds an event and its delivery, which has failed.
func addFinished(tx store.Tx, e store.Endpoint, n int) error {
	event := store.Event{ID: fmt.Sprint("evt_", n), OrgID: acme, Type: "t", Deliveries: []string{fmt.Sprint("whd_", n)}}
	return tx.AddEvent(event, []store.Delivery{{
		ID: event.Deliveries[0], EventID: event.ID, OrgID: acme, EndpointID: e.ID, EndpointNumber: e.Number,
		State: store.StateFailed, Attempts: 1, CreatedAt: someTime, FirstAttemptAt: someTime, FinishedAt: someTime,
	}})
}

// Same holds two dumps to being the same.
func (s *Subject) Same(what, got, want string) {
	s.Helper()
	if got != want {
		s.Errorf("%s:\n%s", what, difference(got, want))
	}
}
