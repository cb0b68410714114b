package storetest

import (
	"fmt"
	"testing"

	"teamdata/store"
)

// testFailingWrites runs each of Rules with a failure at its first write, at its
// second, and so on until none is left to fail. It leaves nothing of a rule that
// failed, in whatever way, and all of it once it passes.
func testFailingWrites(t *testing.T, open Open) {
	for _, rule := range Rules {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			s := New(t, open)
			s.Write(Fill)
			s.failsAtEachWrite(rule)
			s.Code("close", s.Close(), "")
		})
	}
}

func (s *Subject) failsAtEachWrite(rule Rule) {
	s.Helper()
	const most = 40 // more than any of them writes
	before := s.Dump()
	for passing := range most {
		given := Names{}
		for way, fail := range waysToFail {
			what := fmt.Sprintf("%s, with %s at write %d", rule.Name, way, passing+1)
			failed, ids, err := s.executeFailing(what, rule, passing, fail)
			if !failed {
				s.Code(rule.Name, err, "")
				s.Equal(rule.Name+" writes", passing > 1, true) // it, and the answer to it
				s.Equal(rule.Name+" changes something", s.Dump() != before, true)
				return
			}
			s.Equal(what+": is an error", err != nil, true)
			given.given(ids)
		}
		what := fmt.Sprintf("%s, failed at write %d", rule.Name, passing+1)
		s.Same("after "+what, s.Dump(), before)
		s.notThere(what, given)
	}
	s.Errorf("%s does not pass", rule.Name)
}

// executeFailing runs a rule whose writes fail after the first passing ones. It tells
// whether one did, and which ids were given.
func (s *Subject) executeFailing(what string, rule Rule, passing int, fail func() error) (failed bool, given []string, err error) {
	s.Helper()
	var latest *trace
	failing := watching{s.Store, func(tx store.Tx) store.Tx {
		left := passing
		latest = new(trace)
		return watchInto(tx, latest, func() error {
			if left--; left >= 0 {
				return nil
			}
			failed = true
			return fail()
		})
	}}
	func() {
		defer func() { s.Equal(what+": a panic comes out", recover(), nil) }()
		err = rule.Execute(failing)
	}()
	return failed, latest.ids, err
}
