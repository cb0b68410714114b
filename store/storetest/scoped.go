package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

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
		Apart: decoratedCounts{tx.Apart, b.countsOf, wroteAll},
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

// countsOf fails unless the scope has an org, and with it the counts of its deliveries.
func (b *bounds) countsOf(org string) error {
	if b.may(rows.Owner{Org: org}, false) {
		return nil
	}
	return b.left("the counts of %q", org)
}
