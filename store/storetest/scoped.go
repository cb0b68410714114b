package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"teamdata/store"
	"teamdata/store/rows"
)

// Scoped returns s with Updates that are held to their scopes: what is outside of one
// is neither read nor written, and fails the test. A record that is found by its id
// alone, and is outside, is shown with nothing but its owner. A benchmark gets s itself.
func Scoped(t testing.TB, s store.Store) store.Store {
	if _, measured := t.(*testing.B); measured {
		return s
	}
	return scopedStore{s, t}
}

type scopedStore struct {
	store.Store
	t testing.TB
}

func (s scopedStore) Update(ctx context.Context, scope store.Scope, fn func(store.Tx) error) error {
	if scope.All {
		return s.Store.Update(ctx, scope, fn)
	}
	return s.Store.Update(ctx, scope, func(tx store.Tx) error { return fn(scoped(tx, s.t, scope)) })
}

// scoped is a transaction that is held to a scope.
func scoped(tx store.Tx, t testing.TB, scope store.Scope) store.Tx {
	b := &bounds{t, scope, map[uint64]bool{}}
	return store.Tx{
		Tx:    tx.Decorated(func(r rows.Rows) rows.Rows { return guard{r, b} }),
		Apart: scopedCounts{tx.Apart, b},
	}
}

// bounds are those of a scope.
type bounds struct {
	t       testing.TB
	scope   store.Scope
	numbers map[uint64]bool // of the endpoints within the scope that were met
}

// may reports whether the scope has what is an owner's.
func (b *bounds) may(o rows.Owner, write bool) bool {
	switch {
	case o.Key != "":
		return slices.Contains(b.scope.Keys, store.IdempotencyKey{OrgID: o.Org, Key: o.Key})
	case o.Org != "":
		in := slices.Contains(b.scope.Orgs, o.Org)
		if in && o.Number > 0 {
			b.numbers[o.Number] = true
		}
		return in && (!write || o.User == "" || slices.Contains(b.scope.Users, o.User))
	case o.User != "":
		return slices.Contains(b.scope.Users, o.User)
	}
	return b.numbers[o.Number]
}

// left tells of what is outside of the scope, and makes the error about it.
func (b *bounds) left(format string, args ...any) error {
	err := fmt.Errorf("an Update of the scope %+v asks for %s", b.scope, fmt.Sprintf(format, args...))
	b.t.Error(err)
	return err
}

// scopedCounts are the counts of deliveries that a scope has.
type scopedCounts struct {
	store.Apart
	*bounds
}

// of fails unless the scope has an org.
func (s scopedCounts) of(org string) error {
	if s.may(rows.Owner{Org: org}, false) {
		return nil
	}
	return s.left("the counts of %q", org)
}

func (s scopedCounts) AddDeliveryCounts(org string, endpoint uint64, at time.Time, c store.DeliveryCounts) error {
	return do(s.of(org), func() error { return s.Apart.AddDeliveryCounts(org, endpoint, at, c) })
}

func (s scopedCounts) EachDeliveryCounts(org string, from time.Time, fn func(uint64, time.Time, store.DeliveryCounts)) error {
	return do(s.of(org), func() error { return s.Apart.EachDeliveryCounts(org, from, fn) })
}

func (s scopedCounts) DropDeliveryCounts(time.Time, int) (int, error) {
	return 0, s.left("the counts of all")
}

func (s scopedCounts) DropDeliveryCountsOf(org string, limit int) (int, error) {
	return get(s.of(org), func() (int, error) { return s.Apart.DropDeliveryCountsOf(org, limit) })
}
