package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/storetest"
)

// tested is a kind of record, as these tests work with it.
type tested interface {
	called() string
	test(*subject)
}

// TestKinds writes each kind of record with every field set, finds it, changes it, lists it
// and deletes it.
func TestKinds(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.called(), func(t *testing.T) {
			t.Parallel()
			onBoth(t, k.test)
		})
	}
}

// kind is a kind of record that is found by its id.
type kind[T any] struct {
	name  string
	id    func(*T) *string // where the id stands
	own   func(*T)         // makes of a sample what can be written
	put   func(store.Tx, T) error
	get   func(store.Tx, T) (T, error)                            // what is written under the id
	list  func(tx store.Tx, after string, limit int) ([]T, error) // from id to id; nil: there is no list
	all   func(store.Tx) ([]T, error)                             // the list, where it is read whole
	drop  func(tx store.Tx, id string) error                      // nil: it stays
	unset bool                                                    // what was never written is found, and empty
	once  bool                                                    // it is never changed
}

func (k kind[T]) called() string { return k.name }

// sample makes the sample that has an id.
func (k kind[T]) sample(id string, v T) T {
	*k.id(&v) = id
	if k.own != nil {
		k.own(&v)
	}
	return v
}

func (k kind[T]) test(s *subject) {
	samples := []T{
		k.sample("full", storetest.Sample[T](storetest.Values{Text: "x", Time: someTime})),
		k.sample(longID, storetest.Sample[T](storetest.Values{Text: longText, Time: lastMs, Most: true})),
		k.sample("O", storetest.Sample[T](storetest.Values{Text: unicode, Time: firstMs, Most: true})),
		k.sample("o", *new(T)),
	}
	k.roundTrip(s, samples)
	if !k.once {
		for _, other := range []T{storetest.Sample[T](storetest.Values{Text: "changed", Time: lastMs.Add(-time.Hour)}), *new(T)} {
			samples[0] = k.sample("full", other)
			s.Write(func(tx store.Tx) error { return k.put(tx, samples[0]) })
			k.holds(s, "one is changed", samples)
		}
	}
	if k.drop != nil {
		for len(samples) > 0 {
			k.dropFirst(s, samples)
			samples = samples[1:]
		}
	}
	k.testList(s, samples)
}

// roundTrip writes samples under different ids, and finds each as it was
// written: in the same transaction, after it, and when the store was closed and
// opened again.
func (k kind[T]) roundTrip(s *subject, samples []T) {
	for _, v := range samples {
		s.Write(func(tx store.Tx) error {
			k.lacks(s, tx, "before it was written", v)
			err := k.put(tx, v)
			got, _ := k.get(tx, v)
			s.Equal(k.name+" in the transaction that wrote it", got, v)
			return err
		})
	}
	k.holds(s, "written", samples)
	s.Reopen()
	k.holds(s, "reopened", samples)
}

func (k kind[T]) holds(s *subject, when string, samples []T) {
	s.Helper()
	for _, v := range samples {
		s.Read(func(tx store.Tx) error {
			got, err := k.get(tx, v)
			if err == nil {
				s.Equal(k.name+" when "+when, got, v)
			}
			return err
		})
	}
}

func (k kind[T]) lacks(s *subject, tx store.Tx, when string, v T) {
	s.Helper()
	got, err := k.get(tx, v)
	if !k.unset {
		s.Code(k.name+" "+when, err, store.CodeNotFound)
		return
	}
	s.Code(k.name+" "+when, err, "")
	s.Equal(k.name+" "+when, got, k.sample(*k.id(&v), *new(T)))
}

// dropFirst drops the first of some samples, and finds the others still there.
// What is not there may be refused, and is left at that.
func (k kind[T]) dropFirst(s *subject, samples []T) {
	id := *k.id(&samples[0])
	s.Write(func(tx store.Tx) error { return k.drop(tx, id) })
	s.Write(func(tx store.Tx) error {
		if err := k.drop(tx, id); !store.IsNotFound(err) {
			return err
		}
		return nil
	})
	s.Read(func(tx store.Tx) error {
		k.lacks(s, tx, "once it is dropped", samples[0])
		return nil
	})
	k.holds(s, "another is dropped", samples[1:])
}

// testList writes records whose ids begin alike beside those that are there, and
// reads the list; once more when one of them is dropped, also from where it was, and some
// times when the store was opened again as well.
func (k kind[T]) testList(s *subject, there []T) {
	if k.list == nil && k.all == nil {
		return
	}
	var want []item
	for _, i := range []int{3, 0, 5, 2, 4, 1} {
		var v T
		for _, text := range []string{"before", likeIDs[i]} { // the list has what it was changed to
			v = k.sample(likeIDs[i], storetest.Sample[T](storetest.Values{Text: text, Time: someTime}))
			s.Write(func(tx store.Tx) error { return k.put(tx, v) })
		}
		want = append(want, k.item(v))
	}
	for _, v := range there {
		want = append(want, k.item(v))
	}
	slices.SortFunc(want, func(a, b item) int { return a.at.Compare(b.at) })
	s.holdsList(k.name, want, 1, k.read)
	if k.drop == nil {
		s.Reopen()
		s.holdsList(k.name+" reopened", want, 1, k.read)
		return
	}
	for len(want) > 0 {
		gone := want[len(want)/2].at
		s.Write(func(tx store.Tx) error { return k.drop(tx, gone.ID) })
		want = slices.DeleteFunc(want, func(i item) bool { return i.at == gone })
		if len(want)%4 == 0 {
			s.Reopen()
		}
		s.holdsList(k.name+" with one dropped", want, 1, k.read, around(gone)...)
	}
}

// item is what the list has of a record.
func (k kind[T]) item(v T) item { return item{k.at(v), string(k.appendText(v, nil))} }

func (k kind[T]) at(v T) store.Cursor               { return store.Cursor{ID: *k.id(&v)} }
func (k kind[T]) appendText(v T, dst []byte) []byte { return fmt.Appendf(dst, "%+v", v) }

// read reads a page of the list. More follow if there is one after the last.
func (k kind[T]) read(tx store.Tx, after store.Cursor, limit int, dst []byte) (store.Page, error) {
	list, err := k.page(tx, after.ID, limit)
	page := pageOf(list, k.at, k.appendText, 1, store.Cursor{}, limit+1, dst)
	if err == nil && page.Count > 0 {
		list, err = k.page(tx, page.Last.ID, 1)
		page.More = len(list) > 0
	}
	return page, err
}

func (k kind[T]) page(tx store.Tx, after string, limit int) ([]T, error) {
	if k.list != nil {
		return k.list(tx, after, limit)
	}
	list, err := k.all(tx)
	list = slices.DeleteFunc(list, func(v T) bool { return *k.id(&v) <= after })
	return list[:min(len(list), limit)], err
}
