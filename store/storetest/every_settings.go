package storetest

import (
	"errors"

	"teamdata/store"
)

// fillSettings adds what is changed and removed by changeSettings: plans, event
// types, operator tokens, and an endpoint that has been removed with a delivery.
func fillSettings(tx store.Tx) error {
	gone, err := store.ImportEndpoint(tx, newEndpoint(acme, "whe_2"))
	_, _, errPaid := store.RegisterEventType(tx, store.EventType{Name: "invoice.paid"})
	_, _, errSent := store.RegisterEventType(tx, store.EventType{Name: "invoice.sent"})
	return errors.Join(err, errPaid, errSent,
		store.AddPlan(tx, store.Plan{Name: "old"}),
		store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_1", Name: "ops"}),
		store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_2", Name: "ci"}),
		addFinished(tx, gone, 3), tx.PutLastAcknowledged(gone.Number, someTime),
		store.RemoveEndpoint(tx, ada, acme, gone.ID))
}

// changeSettings also drops what is left of the removed endpoint, and makes
// another under its id.
func changeSettings(tx store.Tx) error {
	removed, err := tx.RemovedEndpoints(1)
	if err != nil {
		return err
	}
	_, _, errPaid := store.RegisterEventType(tx, store.EventType{Name: "invoice.paid", Description: "changed", Schema: []byte("{}")})
	_, _, errVoid := store.RegisterEventType(tx, store.EventType{Name: "invoice.void"})
	_, errAgain := store.CreateEndpoint(tx, ada, newEndpoint(acme, "whe_2"))
	_, errName := store.RenameOrg(tx, ada, acme, "renamed")
	return errors.Join(errPaid, errVoid, errAgain, errName,
		store.RemoveEventType(tx, "invoice.sent"), store.RemovePlan(tx, "old"),
		store.RevokeOperatorToken(tx, "opr_1"),
		store.ImportOperatorToken(tx, store.OperatorToken{ID: "opr_new", Name: "new"}),
		tx.DeleteDelivery("whd_3"), tx.DeleteEvent("evt_3"), tx.ForgetEndpoint(removed[0]),
		store.RemoveEndpoint(tx, ada, acme, "whe_new"))
}
