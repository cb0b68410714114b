package storetest

import (
	"context"
	"time"

	"teamdata/store"
)

// delivery is what the store holds of a delivery.
func (s *subject) delivery(id string) (d store.Delivery) {
	s.Helper()
	s.view(func(tx store.Tx) (err error) {
		d, err = tx.Delivery(id)
		return err
	})
	return d
}

// endpoint is what the store holds of an endpoint of acme.
func (s *subject) endpoint(id string) (e store.Endpoint) {
	s.Helper()
	s.view(func(tx store.Tx) (err error) {
		e, err = tx.Endpoint(acme, id)
		return err
	})
	return e
}

func (s *subject) mails() (mails []store.Mail) {
	s.Helper()
	s.view(func(tx store.Tx) (err error) {
		mails, err = tx.Mails("", 1000)
		return err
	})
	return mails
}

// isThere tells whether there is a delivery of that id.
func (s *subject) isThere(id string) bool {
	s.Helper()
	var err error
	s.view(func(tx store.Tx) error {
		_, err = tx.Delivery(id)
		return nil
	})
	return err == nil
}

// listed are the ids in one of an endpoint's lists, in its order.
func (s *subject) listed(endpoint uint64, list store.DeliveryList) (ids []string) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		page, _, err := tx.DeliveryPage(endpoint, list, store.Cursor{}, 10_000)
		for _, d := range page {
			ids = append(ids, d.ID)
		}
		return err
	})
	return ids
}

// newAudit runs something and returns what it added to acme's audit log, a JSON
// item behind another.
func (s *subject) newAudit(do func()) string {
	s.Helper()
	before := len(s.auditLog(acme))
	do()
	return s.auditLog(acme)[before:]
}

// sendTests sends n test events to an endpoint of acme, and returns the ids of
// the deliveries.
func (s *subject) sendTests(endpointID string, n int) (ids []string) {
	s.Helper()
	s.update(func(tx store.Tx) error {
		ids = nil
		for range n {
			d, err := store.SendTest(tx, acme, endpointID)
			if err != nil {
				return err
			}
			ids = append(ids, d.ID)
		}
		return nil
	})
	return ids
}

// try records an attempt that began at a time and took a second, with the
// default schedule. Any status but 200 is in vain.
func (s *subject) try(id string, started time.Time, status int) (disabled bool) {
	s.Helper()
	s.update(func(tx store.Tx) (err error) {
		disabled, err = attempted(tx, id, started, status, store.DefaultRetrySchedule)
		return err
	})
	return disabled
}

func attempted(tx store.Tx, id string, started time.Time, status int, schedule []time.Duration) (disabled bool, err error) {
	a := store.Attempt{StartedAt: started, EndedAt: started.Add(time.Second), Status: status}
	if status != 200 {
		a.Reason = "not 2xx"
	}
	return store.RecordAttempt(tx, id, a, schedule)
}

// failAll makes all attempts of a delivery in vain, each when it is due.
func (s *subject) failAll(id string) (disabled bool) {
	s.Helper()
	for !s.Failed() {
		disabled = s.try(id, s.clock.now(), 500)
		d := s.delivery(id)
		if !d.State.Waiting() {
			return disabled
		}
		s.equal("disabled before the last attempt", disabled, false)
		s.clock.move(d.DueAt.Sub(s.clock.now()))
	}
	return disabled
}

// refused holds a rule to an error, and to changing nothing: when its transaction
// ends with it, and when that goes on.
func (s *subject) refused(what string, want store.Code, rule func(store.Tx) error) {
	s.Helper()
	before := s.dump(&everyName)
	s.code(what, s.Update(context.Background(), rule), want)
	s.same("after "+what, s.dump(&everyName), before)
	s.update(func(tx store.Tx) error {
		s.code(what, rule(tx), want)
		return nil
	})
	s.same("after "+what+", going on", s.dump(&everyName), before)
}

// eventIsThere tells whether there is the event of a delivery.
func (s *subject) eventIsThere(d store.Delivery) bool {
	s.Helper()
	var err error
	s.view(func(tx store.Tx) error {
		_, err = tx.Event(d.EventID)
		return nil
	})
	return err == nil
}

// attemptMany records attempts of deliveries in one transaction, in vain but for
// what is acknowledged. The time of each is its index's.
func (s *subject) attemptMany(ids []string, status int, schedule []time.Duration, at func(i int) time.Time) {
	s.Helper()
	s.update(func(tx store.Tx) error {
		for i, id := range ids {
			if _, err := attempted(tx, id, at(i), status, schedule); err != nil {
				return err
			}
		}
		return nil
	})
}
