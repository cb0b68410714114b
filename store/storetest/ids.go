package storetest

import (
	"context"
	"errors"
	"strings"
	"time"

	"teamdata/store"
)

// testIDsRise has the clock step back, the store reopened and transactions fail
// between the ids.
func testIDsRise(s *Subject) {
	last := map[string]string{}
	rise := func(when string) {
		s.Update(context.Background(), store.All, func(tx store.Tx) error {
			for _, prefix := range []string{store.PrefixOrg, store.PrefixEvent, store.PrefixDelivery, store.PrefixMail} {
				id := tx.NewID(prefix)
				if !strings.HasPrefix(id, prefix) || !store.ValidID(id) || id <= last[prefix] {
					s.Errorf("%s: %q does not follow %q", when, id, last[prefix])
				}
				last[prefix] = id
			}
			return errFailing
		})
	}
	rise("at first")
	rise("at once")
	s.Clock.Move(-time.Hour)
	rise("the clock steps back")
	s.Clock.Move(2 * time.Hour)
	rise("the clock goes on")
	endpoint := s.Seed()
	s.Write(func(tx store.Tx) error {
		d, err := store.SendTest(tx, acme, endpoint.ID)
		last[store.PrefixDelivery], last[store.PrefixMail] = d.ID, tx.NewID(store.PrefixMail)
		return errors.Join(err, tx.PutMail(store.Mail{ID: last[store.PrefixMail]}))
	})
	s.Clock.Move(-24 * time.Hour)
	s.Reopen()
	rise("reopened with the clock behind")
}
