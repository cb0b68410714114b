package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"teamdata/store"
)

// testUndoneInTheSameCommit keeps the writer busy so that transactions gather
// behind it and may share a commit: one adds records, the next change these and
// fail.
func testUndoneInTheSameCommit(s *Subject) {
	endpoint := s.Seed()
	for round := range 20 {
		user := fmt.Sprintf("usr_%d", round)
		var delivery store.Delivery
		var all sync.WaitGroup
		s.whileBusy(func() {
			all.Go(func() {
				s.Code("adding", s.Update(context.Background(), store.All, func(tx store.Tx) (err error) {
					if delivery, err = store.SendTest(tx, acme, endpoint.ID); err != nil {
						return err
					}
					_, err = store.AddMember(tx, ada, store.Member{OrgID: acme, UserID: user, Role: store.RoleMember})
					return errors.Join(err, tx.PutCertificate(user, []byte("pem")))
				}), "")
			})
			for range 3 {
				all.Go(func() {
					s.Attempt(func(tx store.Tx) error {
						store.RecordAttempt(tx, delivery.ID, store.Attempt{Status: 204}, nil)
						store.RemoveMember(tx, ada, acme, user)
						tx.PutCertificate(user, []byte("changed"))
						return errFailing
					})
				})
			}
		})
		all.Wait()
		s.stillThere(delivery, user)
	}
}

// whileBusy runs start while the store's writer waits for it to return.
func (s *Subject) whileBusy(start func()) {
	running, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	var busy sync.WaitGroup
	busy.Go(func() {
		err := s.Update(context.Background(), store.All, func(tx store.Tx) error {
			once.Do(func() { close(running) })
			<-release
			return nil
		})
		s.Code("the busy transaction", err, "")
	})
	<-running
	start()
	for range 100 {
		runtime.Gosched() // so that what was started gets to the writer
	}
	close(release)
	busy.Wait()
}

func (s *Subject) stillThere(d store.Delivery, user string) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		got, err := tx.Delivery(d.ID)
		s.Equal("delivery", got, d)
		_, errMember := tx.Member(acme, user)
		pem, errPEM := tx.Certificate(user)
		s.Equal("certificate", string(pem), "pem")
		return errors.Join(err, errMember, errPEM)
	})
	claims, err := s.Claim(context.Background(), d.EndpointNumber, s.Clock.Now(), 1000)
	s.Code("claim", err, "")
	found := false
	for _, c := range claims.Claims {
		found = found || c.Delivery.ID == d.ID
		s.Release(c.Delivery.ID)
	}
	s.Equal("the delivery can be claimed", found, true)
}
