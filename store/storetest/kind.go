package storetest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"teamdata/store"
)

// tested is a kind of record, as the suite works with it.
type tested interface {
	called() string
	test(*Subject)
	dump(*strings.Builder, store.Tx, names)
	generators() []generator
}

// kind is a kind of record that is found by its id.
type kind[T any] struct {
	name   string
	ids    string           // which of the names its records have
	id     func(*T) *string // where the id stands
	own    func(*T)         // makes of a sample what can be written
	put    func(store.Tx, T) error
	get    func(store.Tx, T) (T, error)                            // what is written under the id
	list   func(tx store.Tx, after string, limit int) ([]T, error) // from id to id; nil: there is no list
	all    func(store.Tx) ([]T, error)                             // the list, where it is read whole
	drop   func(tx store.Tx, id string) error                      // nil: it stays
	unset  bool                                                    // what was never written is found, and empty
	once   bool                                                    // it is never changed
	random bool                                                    // random histories put it as it is
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

func (k kind[T]) test(s *Subject) {
	samples := []T{
		k.sample("full", Sample[T](Values{Text: "x", Time: someTime})),
		k.sample(longID, Sample[T](Values{Text: longText, Time: lastMs, Most: true})),
		k.sample("O", Sample[T](Values{Text: unicode, Time: firstMs, Most: true})),
		k.sample("o", *new(T)),
	}
	k.roundTrip(s, samples)
	if !k.once {
		for _, other := range []T{Sample[T](Values{Text: "changed", Time: lastMs.Add(-time.Hour)}), *new(T)} {
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
func (k kind[T]) roundTrip(s *Subject, samples []T) {
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

func (k kind[T]) holds(s *Subject, when string, samples []T) {
	s.Helper()
	for _, v := range samples {
		s.Read(func(tx store.Tx) error {
			got, err := k.get(tx, v)
			s.Equal(k.name+" when "+when, got, v)
			return err
		})
	}
}

func (k kind[T]) lacks(s *Subject, tx store.Tx, when string, v T) {
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
func (k kind[T]) dropFirst(s *Subject, samples []T) {
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
// lists them from id to id; once more when one of them is dropped.
func (k kind[T]) testList(s *Subject, there []T) {
	if k.list == nil && k.all == nil {
		return
	}
	want := slices.Clone(likeIDs)
	for _, v := range there {
		want = append(want, *k.id(&v))
	}
	slices.Sort(want)
	for _, i := range []int{3, 0, 5, 2, 4, 1} {
		s.Write(func(tx store.Tx) error {
			return k.put(tx, k.sample(likeIDs[i], Sample[T](Values{Text: likeIDs[i], Time: someTime})))
		})
	}
	s.walks(k.name, want, k.listed(s))
	if k.drop != nil {
		s.Write(func(tx store.Tx) error { return k.drop(tx, "a-") })
		want = slices.DeleteFunc(want, func(id string) bool { return id == "a-" })
	}
	s.Reopen()
	s.walks(k.name+" reopened", want, k.listed(s))
	for _, id := range want {
		if k.drop != nil {
			s.Write(func(tx store.Tx) error { return k.drop(tx, id) })
		}
	}
}

// listed lists ids, and holds each record of the list to what is found alone.
func (k kind[T]) listed(s *Subject) func(tx store.Tx, after string, limit int) ([]string, error) {
	return func(tx store.Tx, after string, limit int) (ids []string, err error) {
		list, err := k.page(tx, after, limit)
		for _, v := range list {
			alone, err := k.get(tx, v)
			s.Equal("one in the list of "+k.name, v, alone)
			s.Code("one in the list of "+k.name, err, "")
			ids = append(ids, *k.id(&v))
		}
		return ids, err
	}
}

func (k kind[T]) page(tx store.Tx, after string, limit int) ([]T, error) {
	if k.list != nil {
		return k.list(tx, after, limit)
	}
	list, err := k.all(tx)
	list = slices.DeleteFunc(list, func(v T) bool { return *k.id(&v) <= after })
	return list[:min(len(list), limit)], err
}

// dump shows what is kept under each name, and the list, a line for each page.
func (k kind[T]) dump(b *strings.Builder, tx store.Tx, n names) {
	for _, id := range n[k.ids] {
		line(b, k.name+" "+id)(k.get(tx, k.sample(id, *new(T))))
	}
	if k.list != nil || k.all != nil {
		dumpAfter(b, k.name, func(v T) string { return *k.id(&v) }, func(after string, limit int) ([]T, error) {
			return k.page(tx, after, limit)
		})
	}
}

// generators draw what random histories do with the kind beside its rules.
func (k kind[T]) generators() []generator {
	if !k.random {
		return nil
	}
	return []generator{{"put " + k.name, func(h *history) rule {
		v := k.sample(h.one(k.ids), Sample[T](Values{Text: fmt.Sprint(h.IntN(1000)), Time: h.importedTime()}))
		return func(tx store.Tx) error { return k.put(tx, v) }
	}}}
}
