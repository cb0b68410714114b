package storetest

import (
	"errors"
	"fmt"
	"time"

	"teamdata/store"
)

// addFinished adds an event and its delivery, which has failed.
func addFinished(tx store.Tx, e store.Endpoint, n int) error {
	event := store.Event{ID: fmt.Sprint("evt_", n), OrgID: acme, Type: "t", Deliveries: []string{fmt.Sprint("whd_", n)}}
	return errors.Join(tx.AddEvent(event), tx.AddDelivery(store.Delivery{
		ID: event.Deliveries[0], EventID: event.ID, OrgID: acme, EndpointID: e.ID, EndpointNumber: e.Number,
		State: store.StateFailed, Attempts: 1, CreatedAt: someTime, FirstAttemptAt: someTime, FinishedAt: someTime,
	}))
}

// changeQueue replays one of the finished deliveries, drops the other, gives the
// endpoint another secret, and changes and removes mails.
func changeQueue(tx store.Tx) error {
	_, errReplay := store.Replay(tx, ada, acme, "whd_1")
	_, errRotate := store.RotateSecret(tx, ada, acme, "whe_1", secretOf(1, 32), time.Hour)
	_, errPostpone := store.PostponeMail(tx, store.Mail{ID: "mai_1", To: "a", CreatedAt: tx.Now()}, store.DefaultMailSchedule)
	return errors.Join(errReplay, errRotate, errPostpone,
		tx.DeleteDelivery("whd_2"), tx.DeleteEvent("evt_2"),
		tx.PutMail(store.Mail{ID: "mai_3", To: "c"}), tx.DeleteMail("mai_2"),
		tx.PutLastAcknowledged(1, someTime), store.EnableEndpoint(tx, ada, acme, "whe_1"))
}
