package delivery_test

import "teamdata/store"

// watched is a transaction that keeps what is written.
type watched struct {
	store.Tx
	a *act
}

func (t watched) AppendAudit(e store.AuditEntry) (store.AuditEntry, error) {
	e, err := t.Tx.AppendAudit(e)
	t.a.audits = append(t.a.audits, e)
	return e, err
}

func (t watched) AddEvent(e store.Event) error {
	t.a.events = append(t.a.events, e)
	return t.Tx.AddEvent(e)
}

func (t watched) DeleteEvent(id string) error {
	t.a.unheard = append(t.a.unheard, id)
	return t.Tx.DeleteEvent(id)
}

func (t watched) AddDelivery(d store.Delivery) error {
	t.a.added = append(t.a.added, d)
	return t.Tx.AddDelivery(d)
}

func (t watched) PutDelivery(d store.Delivery) error {
	t.a.put = append(t.a.put, d)
	return t.Tx.PutDelivery(d)
}

func (t watched) DeleteDelivery(id string) error {
	t.a.dropped = append(t.a.dropped, id)
	return t.Tx.DeleteDelivery(id)
}

func (t watched) PutEndpoint(e store.Endpoint) error {
	t.a.endpoints = append(t.a.endpoints, e)
	return t.Tx.PutEndpoint(e)
}

func (t watched) AddEndpoint(e store.Endpoint) (store.Endpoint, error) {
	e, err := t.Tx.AddEndpoint(e)
	t.a.made = append(t.a.made, e)
	return e, err
}

func (t watched) DeleteEndpoint(e store.Endpoint) error {
	t.a.removed = append(t.a.removed, e)
	return t.Tx.DeleteEndpoint(e)
}

func (t watched) ForgetEndpoint(number uint64) error {
	t.a.forgotten = append(t.a.forgotten, number)
	return t.Tx.ForgetEndpoint(number)
}

func (t watched) PutMail(m store.Mail) error {
	t.a.mails = append(t.a.mails, m)
	return t.Tx.PutMail(m)
}

func (t watched) DeleteMail(id string) error {
	t.a.sent = append(t.a.sent, id)
	return t.Tx.DeleteMail(id)
}

func (t watched) AddIdempotencyRecord(r store.IdempotencyRecord) error {
	t.a.answers = append(t.a.answers, r)
	return t.Tx.AddIdempotencyRecord(r)
}

func (t watched) ExpireIdempotencyRecords(limit int) (int, error) {
	n, err := t.Tx.ExpireIdempotencyRecords(limit)
	t.a.expired += n
	return n, err
}
