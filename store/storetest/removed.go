package storetest

import (
	"context"
	"time"

	"teamdata/store"
)

// removed are the numbers of the endpoints that are not forgotten.
func (s *subject) removed() (numbers []uint64) {
	s.Helper()
	s.view(func(tx store.Tx) (err error) {
		numbers, err = tx.RemovedEndpoints(1000)
		return err
	})
	return numbers
}

// claimOf is what can be claimed at an endpoint, long after all is due.
func (s *subject) claimOf(number uint64) (ids []string) {
	s.Helper()
	claims, err := s.Claim(context.Background(), number, s.clock.now().Add(1000*time.Hour), 100)
	s.code("claim", err, "")
	for _, id := range deliveryIDs(claims) {
		ids = append(ids, id)
		s.Release(id)
	}
	return ids
}

// goneFor holds a delivery to not being found, and an endpoint to having nothing
// that is sent.
func (s *subject) goneFor(what string, number uint64, ids ...string) {
	s.Helper()
	s.equal("claimed, "+what, s.claimOf(number), []string{})
	_, due := s.eachDue()[number]
	s.equal("each due tells of it, "+what, due, false)
	for _, id := range ids {
		s.refused("replaying, "+what, store.CodeNotFound, replay(id))
		s.view(func(tx store.Tx) error {
			_, _, err := store.FindDelivery(tx, acme, id)
			s.code("finding a delivery, "+what, err, store.CodeNotFound)
			return nil
		})
	}
}

// testRemovedEndpoint: nothing is sent there any more, and other endpoints and
// orgs notice nothing.
func testRemovedEndpoint(s *subject) {
	first := s.seed()
	s.update(createEndpoint(newEndpoint(acme, "whe_2")))
	s.update(createEndpoint(newEndpoint(other, "whe_1")))
	s.update(uploadFile("fil_1"))
	number := s.endpoint("whe_2").Number
	ids := s.listed(number, store.ListWaiting)
	ids = append(ids, s.sendTests("whe_2", 3)...)
	s.try(ids[1], s.clock.now(), 200)
	s.try(ids[2], s.clock.now(), 500)
	s.view(func(tx store.Tx) error {
		d, e, err := store.FindDelivery(tx, acme, ids[0])
		s.equal("a delivery of an endpoint that is there", []any{d.ID, e.ID}, []any{ids[0], "whe_2"})
		_, _, errOther := store.FindDelivery(tx, other, ids[0])
		s.code("finding another org's", errOther, store.CodeNotFound)
		return err
	})
	s.refused("removing another org's", store.CodeNotFound, removeEndpoint(other, "whe_2"))
	s.refused("removing none", store.CodeNotFound, removeEndpoint(acme, "whe_none"))
	s.claimAll()
	s.does("an endpoint is removed", removeEndpoint(acme, "whe_2"), effects{actions: []string{"endpoint.removed whe_2"}})
	for range 2 {
		s.goneFor("removed", number, ids...)
		s.equal("removed", s.removed(), []uint64{number})
		s.equal("its deliveries are there until the sweep", len(s.listed(number, store.ListWaiting)), 3)
		s.reopen()
	}
	s.equal("the other endpoint's", len(s.claimOf(first.Number)), 1)
	for what, rule := range map[string]func(store.Tx) error{
		"removing": removeEndpoint(acme, "whe_2"), "enabling": switchEndpoint(acme, "whe_2", true), "disabling": switchEndpoint(acme, "whe_2", false),
		"changing": changeEndpoint(acme, "whe_2", store.EndpointChange{}),
		"a test":   func(tx store.Tx) error { return second(store.SendTest(tx, acme, "whe_2")) },
		"rotating": func(tx store.Tx) error { return second(store.RotateSecret(tx, ada, acme, "whe_2", "", 0)) },
	} {
		s.refused(what+", once it is removed", store.CodeNotFound, rule)
	}
	s.claimAll()
	s.does("an event", uploadFile("fil_2"), one("file.uploaded fil_2", fileSent("fil_2")))
}

// fileSent is the event of uploadFile.
func fileSent(id string) sent {
	return sent{"file.uploaded", map[string]any{"orgId": acme, "fileId": id, "name": "a", "contentType": "b", "size": 0}}
}

// testRemovedInFlight: what was in hand when its endpoint was removed comes to
// its end, and that does no harm, whether the sweep was there before or not.
func testRemovedInFlight(s *subject) {
	number := s.seed().Number
	var told notices
	told.listen(s)
	ids := s.sendTests("whe_1", 4)
	claims, err := s.Claim(context.Background(), number, s.clock.now(), 3)
	s.code("claim", err, "")
	s.equal("in hand", len(claims.Claims), 3)
	s.update(removeEndpoint(acme, "whe_1"))
	log := s.entries(acme)
	for i, status := range []int{200, 500} {
		s.equal("disabled by an outcome", s.try(ids[i], s.clock.now(), status), false)
	}
	s.clock.move(time.Hour)
	s.equal("disabled by the last of attempts", s.failAllOf(ids[3]), false)
	s.equal("audit entries of outcomes", s.entries(acme), log)
	s.equal("mails", len(s.mails()), 0)
	s.goneFor("with outcomes", number, ids...)
	s.sweep(day)
	s.refused("an outcome after the sweep", store.CodeNotFound, func(tx store.Tx) error {
		return second(attempted(tx, ids[2], tx.Now(), 200, nil))
	})
	for _, id := range ids[:3] {
		s.Release(id)
	}
	s.equal("removed", s.removed(), []uint64{})
	s.goneFor("swept", number, ids...)
}
