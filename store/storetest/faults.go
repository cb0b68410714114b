package storetest

import (
	"context"
	"fmt"

	"teamdata/store"
)

// faulty is a store in whose transactions a write fails: when so many have been
// done before it, and that one too.
type faulty struct {
	store.Store
	passing int
	fail    func() error // an error, or a panic
	given   *names       // ids of the latest transaction
	failed  *bool
}

func (f faulty) Update(ctx context.Context, fn func(store.Tx) error) error {
	return f.Store.Update(ctx, func(tx store.Tx) error {
		r := record(tx)
		*f.given = names{}
		defer func() { f.given.given(r.ids) }()
		left := f.passing
		return fn(failing{r, func() error {
			if left--; left >= 0 {
				return nil
			}
			*f.failed = true
			return f.fail()
		}})
	})
}

// testFailingWrites runs each of Rules with a failure at its first write, at its
// second, and so on until none is left to fail. It leaves nothing of a rule that
// failed, and all of it once it passes.
func testFailingWrites(s *subject) {
	for _, rule := range Rules {
		for way, fail := range waysToFail {
			one := newSubject(s.TB, s.open)
			one.update(Fill)
			one.failsAtEachWrite(rule, way, fail)
			one.code("close", one.Close(), "")
		}
	}
}

func (s *subject) failsAtEachWrite(rule Rule, way string, fail func() error) {
	s.Helper()
	const most = 40 // more than any of them writes
	before := s.dump(&everyName)
	for passing := range most {
		var given names
		failed := false
		what := fmt.Sprintf("%s, with %s at write %d", rule.Name, way, passing+1)
		var err error
		func() {
			defer func() { s.equal(what+": a panic comes out", recover(), nil) }()
			err = rule.Execute(faulty{s.Store, passing, fail, &given, &failed})
		}()
		if !failed {
			s.code(rule.Name, err, "")
			s.equal(rule.Name+" writes", passing > 1, true) // it, and the answer to it
			s.equal(rule.Name+" changes something", s.dump(&everyName) != before, true)
			return
		}
		s.equal(what+": is an error", err != nil, true)
		s.same("after "+what, s.dump(&everyName), before)
		s.leftNothing(what, &given)
	}
	s.Errorf("%s does not pass", rule.Name)
}

// leftNothing holds what a failed transaction gave ids to being not there.
func (s *subject) leftNothing(what string, given *names) {
	s.Helper()
	s.view(func(tx store.Tx) error {
		for _, id := range given.events {
			_, err := tx.Event(id)
			s.code("an event after "+what, err, store.CodeNotFound)
		}
		for _, id := range given.deliveries {
			_, err := tx.Delivery(id)
			s.code("a delivery after "+what, err, store.CodeNotFound)
		}
		return nil
	})
}
