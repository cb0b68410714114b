package storetest

import (
	"context"
	"fmt"
	"strings"

	"teamdata/store"
	"teamdata/store/rows"
)

// Attempt is an Update whose panic, if it comes out, is an error.
func (s *Subject) Attempt(fn func(store.Tx) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return s.Update(context.Background(), store.All, fn)
}

// waysToFail end a transaction after its writes.
var waysToFail = map[string]func() error{
	"an error": func() error { return errFailing },
	"a panic":  func() error { panic("this transaction is to panic") },
}

func testRollback(s *Subject) {
	n := s.FillEverything()
	before := s.DumpAll(n)
	for way, fail := range waysToFail {
		given := Names{}
		err := s.Attempt(func(tx store.Tx) error {
			r, ids := watch(tx)
			err := changeEverything(r)
			s.Code("the changes", err, "")
			given.given(ids.ids)
			s.changedKinds(linesOf(before), linesOf(dump(tx, n)))
			return fail()
		})
		if err == nil {
			s.Errorf("after %s the Update returned nil", way)
		}
		s.Same("after "+way, s.DumpAll(n), before)
		s.Equal("ids were given", len(given[store.PrefixEvent]) > 0 && len(given[store.PrefixDelivery]) > 0, true)
		s.notThere("a failed transaction", given)
	}
	s.Reopen()
	s.Same("after reopening", s.DumpAll(n), before)
	s.Write(changeEverything)
	if s.DumpAll(n) == before {
		s.Errorf("the changes can't be seen after their commit")
	}
}

// linesOf are a dump's lines of rows and entries, by their kinds and indexes.
func linesOf(dump string) map[string]string {
	lines := map[string]string{}
	for line := range strings.Lines(dump) {
		of, _, _ := strings.Cut(line, ":")
		lines[of] += line
	}
	return lines
}

// changedKinds holds a transaction that changes everything to seeing, of each kind of rows
// and each index, that there was something and that it has changed.
func (s *Subject) changedKinds(before, after map[string]string) {
	for _, k := range rows.Kinds() {
		for _, index := range shown(k) {
			name := k.Name
			if index != rows.ByKey {
				name = k.Indexes[index].Own()
			}
			if before[name] == "" || before[name] == after[name] {
				s.Errorf("of %s there was %q, and the transaction leaves it so: fill or change it", name, before[name])
			}
		}
	}
}

// notThere holds the events and deliveries of a failed transaction to having
// left no trace.
func (s *Subject) notThere(what string, given Names) {
	s.Helper()
	s.Read(func(tx store.Tx) error {
		for _, id := range given[store.PrefixEvent] {
			_, err := tx.Event(id)
			s.Code("an event after "+what, err, store.CodeNotFound)
		}
		for _, id := range given[store.PrefixDelivery] {
			_, err := tx.Delivery(id)
			s.Code("a delivery after "+what, err, store.CodeNotFound)
		}
		return nil
	})
}

// actions are the actions in a log's JSON.
func actions(items string) (list []string) {
	for _, rest := range strings.Split(items, `"action":"`)[1:] {
		action, _, _ := strings.Cut(rest, `"`)
		list = append(list, action)
	}
	return list
}
