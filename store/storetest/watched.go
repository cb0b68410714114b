package storetest

import (
	"context"
	"fmt"
	"time"

	"teamdata/store"
)

// trace is what an engine chose by itself in one transaction: its time, ids,
// positions in lists and endpoint numbers. An oracle that runs the same rules
// is given the same.
type trace struct {
	now       time.Time
	ids       []string
	positions []store.Cursor
	numbers   []uint64
}

// watched is a transaction of an engine that keeps its trace, and each of whose
// writes is done and then fails, if wrote says so.
type watched struct {
	store.Tx
	*trace
	wrote func() error
}

func watch(tx store.Tx) watched {
	return watched{tx, &trace{now: tx.Now()}, func() error { return nil }}
}

// watching is a store whose transactions are watched.
type watching struct {
	store.Store
	watch func(store.Tx) watched
}

func (s watching) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, scope, func(tx store.Tx) error { return fn(s.watch(tx)) })
}

func (w watched) then(err error) error {
	if err != nil {
		return err
	}
	return w.wrote()
}

func (w watched) PutOrg(o store.Org) error              { return w.then(w.Tx.PutOrg(o)) }
func (w watched) DeleteOrg(id string) error             { return w.then(w.Tx.DeleteOrg(id)) }
func (w watched) ForgetOrg(id string) error             { return w.then(w.Tx.ForgetOrg(id)) }
func (w watched) PutPlan(p store.Plan) error            { return w.then(w.Tx.PutPlan(p)) }
func (w watched) DeletePlan(name string) error          { return w.then(w.Tx.DeletePlan(name)) }
func (w watched) PutMember(m store.Member) error        { return w.then(w.Tx.PutMember(m)) }
func (w watched) DeleteMember(org, user string) error   { return w.then(w.Tx.DeleteMember(org, user)) }
func (w watched) PutAPIKey(k store.APIKey) error        { return w.then(w.Tx.PutAPIKey(k)) }
func (w watched) DeleteAPIKey(id string) error          { return w.then(w.Tx.DeleteAPIKey(id)) }
func (w watched) PutEndpoint(e store.Endpoint) error    { return w.then(w.Tx.PutEndpoint(e)) }
func (w watched) DeleteEndpoint(e store.Endpoint) error { return w.then(w.Tx.DeleteEndpoint(e)) }
func (w watched) ForgetEndpoint(number uint64) error    { return w.then(w.Tx.ForgetEndpoint(number)) }
func (w watched) PutDelivery(d store.Delivery) error    { return w.then(w.Tx.PutDelivery(d)) }
func (w watched) DeleteDelivery(id string) error        { return w.then(w.Tx.DeleteDelivery(id)) }
func (w watched) PutMail(m store.Mail) error            { return w.then(w.Tx.PutMail(m)) }
func (w watched) DeleteMail(id string) error            { return w.then(w.Tx.DeleteMail(id)) }
func (w watched) PutReplayJob(j store.ReplayJob) error  { return w.then(w.Tx.PutReplayJob(j)) }
func (w watched) DeleteReplayJob(id string) error       { return w.then(w.Tx.DeleteReplayJob(id)) }
func (w watched) PutCertificate(name string, b []byte) error {
	return w.then(w.Tx.PutCertificate(name, b))
}
func (w watched) PutEventType(e store.EventType) error { return w.then(w.Tx.PutEventType(e)) }
func (w watched) DeleteEventType(name string) error    { return w.then(w.Tx.DeleteEventType(name)) }
func (w watched) PutOperatorToken(o store.OperatorToken) error {
	return w.then(w.Tx.PutOperatorToken(o))
}
func (w watched) DeleteOperatorToken(id string) error { return w.then(w.Tx.DeleteOperatorToken(id)) }

func (w watched) PutAccount(a store.Account) error       { return w.then(w.Tx.PutAccount(a)) }
func (w watched) DeleteAccount(userID string) error      { return w.then(w.Tx.DeleteAccount(userID)) }
func (w watched) PutSession(v store.Session) error       { return w.then(w.Tx.PutSession(v)) }
func (w watched) DeleteSession(id string) error          { return w.then(w.Tx.DeleteSession(id)) }
func (w watched) PutSignInLink(l store.SignInLink) error { return w.then(w.Tx.PutSignInLink(l)) }
func (w watched) DeleteSignInLink(id string) error       { return w.then(w.Tx.DeleteSignInLink(id)) }

func (w watched) PutKeyUse(id string, u store.KeyUse) error { return w.then(w.Tx.PutKeyUse(id, u)) }

func (w watched) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	return w.then(w.Tx.AddDeliveryCounts(org, endpoint, at, c))
}

func (w watched) DropDeliveryCounts(before time.Time, limit int) (int, error) {
	n, err := w.Tx.DropDeliveryCounts(before, limit)
	return n, w.then(err)
}

func (w watched) DropDeliveryCountsOf(org string, limit int) (int, error) {
	n, err := w.Tx.DropDeliveryCountsOf(org, limit)
	return n, w.then(err)
}

func (w watched) DropAuditLog(org string, limit int) (int, error) {
	n, err := w.Tx.DropAuditLog(org, limit)
	return n, w.then(err)
}

func (w watched) DeleteIdempotencyRecord(org, key string) error {
	return w.then(w.Tx.DeleteIdempotencyRecord(org, key))
}

func (w watched) AddEvent(e store.Event, deliveries []store.Delivery) error {
	return w.then(w.Tx.AddEvent(e, deliveries))
}

func (w watched) PutInstructions(org string, i store.Instructions) error {
	return w.then(w.Tx.PutInstructions(org, i))
}

func (w watched) PutLastAcknowledged(endpoint uint64, at time.Time) error {
	return w.then(w.Tx.PutLastAcknowledged(endpoint, at))
}

func (w watched) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	return w.then(w.Tx.AddIdempotencyRecord(r))
}

func (w watched) ExpireIdempotencyRecords(limit int) (int, error) {
	n, err := w.Tx.ExpireIdempotencyRecords(limit)
	return n, w.then(err)
}

func (w watched) NewID(prefix string) string {
	id := w.Tx.NewID(prefix)
	w.ids = append(w.ids, id)
	return id
}

func (w watched) AppendMember(m store.Member) (store.Member, error) {
	m, err := w.Tx.AppendMember(m)
	return m, w.placed(memberPosition(m), err)
}

func (w watched) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e, err := w.Tx.AppendAudit(e)
	return e, w.placed(auditPosition(e), err)
}

func (w watched) placed(at store.Cursor, err error) error {
	if err == nil {
		w.positions = append(w.positions, at)
	}
	return w.then(err)
}

func (w watched) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e, err := w.Tx.AddEndpoint(e)
	if err == nil {
		w.numbers = append(w.numbers, e.Number)
	}
	return e, w.then(err)
}

// take removes and returns the first of what is left of a trace.
func take[T any](from *[]T, what string) T {
	if len(*from) == 0 {
		panic(fmt.Sprintf("the oracle asks for a %s more than the engine gave", what))
	}
	first := (*from)[0]
	*from = (*from)[1:]
	return first
}
