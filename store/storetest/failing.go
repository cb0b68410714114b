package storetest

import (
	"time"

	"teamdata/store"
)

// failing is a transaction whose writes are done and then fail, if wrote says so.
type failing struct {
	store.Tx
	wrote func() error
}

func (f failing) then(err error) error {
	if err != nil {
		return err
	}
	return f.wrote()
}

func (f failing) PutOrg(o store.Org) error              { return f.then(f.Tx.PutOrg(o)) }
func (f failing) PutPlan(p store.Plan) error            { return f.then(f.Tx.PutPlan(p)) }
func (f failing) DeletePlan(name string) error          { return f.then(f.Tx.DeletePlan(name)) }
func (f failing) PutMember(m store.Member) error        { return f.then(f.Tx.PutMember(m)) }
func (f failing) DeleteMember(org, user string) error   { return f.then(f.Tx.DeleteMember(org, user)) }
func (f failing) PutAPIKey(k store.APIKey) error        { return f.then(f.Tx.PutAPIKey(k)) }
func (f failing) PutEndpoint(e store.Endpoint) error    { return f.then(f.Tx.PutEndpoint(e)) }
func (f failing) DeleteEndpoint(e store.Endpoint) error { return f.then(f.Tx.DeleteEndpoint(e)) }
func (f failing) ForgetEndpoint(number uint64) error    { return f.then(f.Tx.ForgetEndpoint(number)) }
func (f failing) AddEvent(e store.Event) error          { return f.then(f.Tx.AddEvent(e)) }
func (f failing) DeleteEvent(id string) error           { return f.then(f.Tx.DeleteEvent(id)) }
func (f failing) AddDelivery(d store.Delivery) error    { return f.then(f.Tx.AddDelivery(d)) }
func (f failing) PutDelivery(d store.Delivery) error    { return f.then(f.Tx.PutDelivery(d)) }
func (f failing) DeleteDelivery(id string) error        { return f.then(f.Tx.DeleteDelivery(id)) }
func (f failing) PutMail(m store.Mail) error            { return f.then(f.Tx.PutMail(m)) }
func (f failing) DeleteMail(id string) error            { return f.then(f.Tx.DeleteMail(id)) }
func (f failing) PutCertificate(name string, b []byte) error {
	return f.then(f.Tx.PutCertificate(name, b))
}
func (f failing) PutEventType(e store.EventType) error { return f.then(f.Tx.PutEventType(e)) }
func (f failing) DeleteEventType(name string) error    { return f.then(f.Tx.DeleteEventType(name)) }
func (f failing) PutOperatorToken(o store.OperatorToken) error {
	return f.then(f.Tx.PutOperatorToken(o))
}
func (f failing) DeleteOperatorToken(id string) error { return f.then(f.Tx.DeleteOperatorToken(id)) }

func (f failing) PutAccount(a store.Account) error       { return f.then(f.Tx.PutAccount(a)) }
func (f failing) DeleteAccount(userID string) error      { return f.then(f.Tx.DeleteAccount(userID)) }
func (f failing) PutSession(v store.Session) error       { return f.then(f.Tx.PutSession(v)) }
func (f failing) DeleteSession(id string) error          { return f.then(f.Tx.DeleteSession(id)) }
func (f failing) PutSignInLink(l store.SignInLink) error { return f.then(f.Tx.PutSignInLink(l)) }
func (f failing) DeleteSignInLink(id string) error       { return f.then(f.Tx.DeleteSignInLink(id)) }

func (f failing) PutKeyLastUsed(id string, at time.Time) error {
	return f.then(f.Tx.PutKeyLastUsed(id, at))
}

func (f failing) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	return f.then(f.Tx.AddDeliveryCounts(org, endpoint, at, c))
}

func (f failing) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	n, err := f.Tx.DropDeliveryCounts(before, limit)
	return n, f.then(err)
}

func (f failing) PutInstructions(org string, i store.Instructions) error {
	return f.then(f.Tx.PutInstructions(org, i))
}

func (f failing) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return f.then(f.Tx.PutLastAcknowledged(endpoint, at))
}

func (f failing) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	return f.then(f.Tx.AddIdempotencyRecord(r))
}

func (f failing) AppendMember(m store.Member) (store.Member, error) {
	m, err := f.Tx.AppendMember(m)
	return m, f.then(err)
}

func (f failing) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e, err := f.Tx.AppendAudit(e)
	return e, f.then(err)
}

func (f failing) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e, err := f.Tx.AddEndpoint(e)
	return e, f.then(err)
}

func (f failing) ExpireIdempotencyRecords(limit int) (int, error) {
	n, err := f.Tx.ExpireIdempotencyRecords(limit)
	return n, f.then(err)
}
