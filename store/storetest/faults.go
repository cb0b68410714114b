package storetest

import (
	"fmt"

	"teamdata/store"
)

// testFailingWrites runs each of Rules with a failure at its first write, at its
// second, and so on until none is left to fail. It leaves nothing of a rule that
// failed, and all of it once it passes.
func testFailingWrites(s *Subject) {
	for _, rule := range Rules {
		for way, fail := range waysToFail {
			one := New(s.TB, s.open)
			one.Write(Fill)
			one.failsAtEachWrite(rule, way, fail)
			one.Code("close", one.Close(), "")
		}
	}
}

func (s *Subject) failsAtEachWrite(rule Rule, way string, fail func() error) {
	s.Helper()
	const most = 40 // more than any of them writes
	before := s.Dump()
	for passing := range most {
		what := fmt.Sprintf("%s, with %s at write %d", rule.Name, way, passing+1)
		failed, given, err := s.executeFailing(what, rule, passing, fail)
		if !failed {
			s.Code(rule.Name, err, "")
			s.Equal(rule.Name+" writes", passing > 1, true) // it, and the answer to it
			s.Equal(rule.Name+" changes something", s.Dump() != before, true)
			return
		}
		s.Equal(what+": is an error", err != nil, true)
		s.Same("after "+what, s.Dump(), before)
		s.notThere(what, given)
	}
	s.Errorf("%s does not pass", rule.Name)
}

// executeFailing runs a rule whose writes fail once so many have passed. It tells
// whether one did, and which ids were given.
func (s *Subject) executeFailing(what string, rule Rule, passing int, fail func() error) (failed bool, given names, err error) {
	s.Helper()
	var latest *trace
	failing := watching{s.Store, func(tx store.Tx) watched {
		w, left := watch(tx), passing
		latest = w.trace
		w.wrote = func() error {
			if left--; left >= 0 {
				return nil
			}
			failed = true
			return fail()
		}
		return w
	}}
	func() {
		defer func() { s.Equal(what+": a panic comes out", recover(), nil) }()
		err = rule.Execute(failing)
	}()
	given = names{}
	given.given(latest.ids)
	return failed, given, err
}
