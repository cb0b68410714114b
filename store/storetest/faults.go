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
	given   names        // ids of the latest transaction
	failed  *bool
}

func (f faulty) Update(ctx context.Context, fn func(store.Tx) error) error {
	return f.Store.Update(ctx, func(tx store.Tx) error {
		r := record(tx)
		clear(f.given)
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
		given := names{}
		failed := false
		what := fmt.Sprintf("%s, with %s at write %d", rule.Name, way, passing+1)
		var err error
		func() {
			defer func() { s.Equal(what+": a panic comes out", recover(), nil) }()
			err = rule.Execute(faulty{s.Store, passing, fail, given, &failed})
		}()
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
